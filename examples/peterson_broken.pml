//@ check: safety
//@ expect: verdict=violated kind=assertion states=98
/*
 * The same idea with the two assignments swapped: the turn is given away before the flag is raised.
 * Now both processes can pass the test, one after the other, and meet inside.
 */

bool wants[2];
byte turn;
byte inside;

active [2] proctype user()
{
	byte other = 1 - _pid;

	do
	:: turn = other;
	   wants[_pid] = true;
	   (!wants[other] || turn == _pid);

	   inside++;
	   assert(inside == 1);
	   inside--;

	   wants[_pid] = false
	od
}
