//@ check: safety
//@ expect: verdict=holds states=80
//@ check: safety -D N=3
//@ expect: verdict=holds states=25
//@ check: safety -D ALL_RIGHT_HANDED
//@ expect: verdict=violated kind=end-state states=119
/*
 * Dining philosophers, repaired: the last one is left-handed and takes the forks in the opposite order.
 *
 * A deadlock needs a circle: everybody holds one fork and waits for the next philosopher. With one left-handed guest
 * the two ends of the table compete for the same *first* fork, and the circle cannot close. In general: number
 * the resources and take them in increasing order. (Compare philosophers.pml, which deadlocks.)
 *
 * Checked: no deadlock; a fork is never in two hands (`holder` is a ghost variable).
 *
 * Try this:
 *   -D N=5                  a larger table
 *   -D ALL_RIGHT_HANDED     the deadlock is back
 */

#ifndef N
#define N 4
#endif
#define NOBODY 255

chan fork[N] = [1] of { bit };
byte holder[N] = NOBODY;

inline take(f)
{
	atomic {
		fork[f]?1;
		assert(holder[f] == NOBODY);
		holder[f] = me
	}
}

inline put_back(f)
{
	atomic {
		assert(holder[f] == me);
		holder[f] = NOBODY;
		fork[f]!1
	}
}

proctype philosopher(byte me, first, second)
{
	do
	:: take(first);
	   take(second);
	   /* eats */
	   put_back(second);
	   put_back(first)
	od
}

init
{
	byte i;

	atomic {
		for (i : 0 .. N - 1) {
			fork[i]!1
		}
		for (i : 0 .. N - 2) {
			run philosopher(i, i, i + 1)
		}
#ifdef ALL_RIGHT_HANDED
		run philosopher(N - 1, N - 1, 0)
#else
		run philosopher(N - 1, 0, N - 1)
#endif
	}
}
