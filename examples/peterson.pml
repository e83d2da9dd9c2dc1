//@ check: safety
//@ expect: verdict=holds states=38
/*
 * Mutual exclusion for two processes with shared variables only (G. L. Peterson, 1981).
 *
 * A process that wants to enter raises its flag and then yields the turn to the other. It waits only while the
 * other wants in and has the turn. The ghost variable `inside` counts the processes in the critical section.
 */

bool wants[2];
byte turn;
byte inside;

active [2] proctype user()
{
	byte other = 1 - _pid;

	do
	:: wants[_pid] = true;
	   turn = other;
	   (!wants[other] || turn == _pid);

	   inside++;
	   assert(inside == 1);
	   inside--;

	   wants[_pid] = false
	od
}
