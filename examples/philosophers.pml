//@ check: safety
//@ expect: verdict=violated kind=end-state states=119
/*
 * Dining philosophers: each takes the fork at the left, then the one at the right. When all hold their left
 * fork nobody can go on: a deadlock, found as an invalid end state. Forks are rendezvous-free tokens in channels.
 */

#define N 4

chan fork[N] = [1] of { bit };

proctype philosopher(byte me)
{
	byte right = (me + 1) % N;

	do
	:: fork[me]?1;
	   fork[right]?1;
	   /* eats */
	   fork[right]!1;
	   fork[me]!1
	od
}

init
{
	byte i;

	atomic {
		for (i : 0 .. N - 1) {
			fork[i]!1;
			run philosopher(i)
		}
	}
}
