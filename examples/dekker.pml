//@ check: safety
//@ expect: verdict=holds states=110
//@ check: safety -D STUBBORN
//@ expect: verdict=violated kind=end-state states=44
//@ check: safety -D CARELESS
//@ expect: verdict=violated kind=assertion states=88
/*
 * Dekker's algorithm: the first correct mutual exclusion for two processes with nothing but shared variables (about 1962).
 *
 * Both flags may go up at the same moment. Then `turn` says who may insist: the other one takes its flag down,
 * waits until it is its turn, and tries again. Leaving the critical section gives the turn away.
 *
 * Checked: never two users inside (the ghost variable `inside` counts them), and no deadlock.
 *
 * Try this:
 *   -D STUBBORN   nobody takes the flag down again: safe, but both can wait for each other forever (a deadlock)
 *   -D CARELESS   the flag is raised after looking at the other's: both look, both see nothing, both enter
 */

bool wants[2];
byte turn;		/* the pid of the process that may insist */
byte inside;

active [2] proctype user()
{
	byte other = 1 - _pid;

	do
	::
#ifdef CARELESS
	   !wants[other];
	   wants[_pid] = true;
#else
	   wants[_pid] = true;
	   do
	   :: !wants[other] -> break
#ifndef STUBBORN
	   :: wants[other] && turn == other ->
		wants[_pid] = false;
		(turn == _pid);
		wants[_pid] = true
#endif
	   od;
#endif
	   inside++;
	   assert(inside == 1);
	   inside--;

	   turn = other;
	   wants[_pid] = false
	od
}
