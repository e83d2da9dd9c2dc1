//@ check: safety
//@ expect: verdict=violated kind=end-state states=119
//@ check: safety -D N=3
//@ expect: verdict=violated kind=end-state states=36
/*
 * Dining philosophers (Dijkstra, 1965): between each two of them lies one fork, and each needs two to eat.
 *
 * Everybody takes the fork at the left, then the one at the right. When all hold their left fork, nobody can go on: a
 * deadlock, which the search reports as an invalid end state. The counterexample is that unlucky evening.
 *
 * A fork on the table is a message in a channel of its own; taking it is a receive, which blocks while it is away.
 * philosophers_fixed.pml shows a repair.
 *
 * Try this: seat more of them with -D N=6, and look for the shortest counterexample with --search bfs.
 */

#ifndef N
#define N 4
#endif

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
