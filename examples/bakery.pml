//@ check: safety
//@ expect: verdict=holds states=4606
//@ check: safety -D NO_DOORWAY
//@ expect: verdict=violated kind=assertion states=5550
/*
 * Lamport's bakery: mutual exclusion for N processes that only read and write shared variables.
 *
 * A customer takes a number larger than every number it sees and waits for everybody with a smaller one. Looking at
 * the others' numbers takes time, so two customers can draw the same number (then the smaller pid goes first), and
 * while somebody is still drawing, nobody may judge its number: that is what `choosing` is for.
 *
 * In the real algorithm the numbers grow without bound, which no exhaustive search can follow. Here the roll has LAST
 * tickets; who finds it used up comes back later, when the shop has become emptier. This leaves out the longest queues
 * of overlapping customers; raise LAST with -D LAST=5 to see more of them.
 *
 * Checked: never two customers inside, and no deadlock.
 *
 * Try this:
 *   -D N=3 -D LAST=2   a third customer: 207,501 states instead of 4,606
 *   -D NO_DOORWAY       forget `choosing`: a customer that is about to write a small number is overlooked
 */

#ifndef N
#define N 2
#endif
#ifndef LAST
#define LAST 4
#endif

bool choosing[N];
byte number[N];		/* 0: not interested */
byte inside;

active [N] proctype customer()
{
	byte i, highest;

again:
#ifndef NO_DOORWAY
	choosing[_pid] = true;
#endif
	highest = 0;
	for (i : 0 .. N - 1) {
		/* one look at one variable, hence one step */
		d_step {
			if
			:: number[i] > highest -> highest = number[i]
			:: else
			fi
		}
	}
	if
	:: highest < LAST -> number[_pid] = highest + 1
	:: else -> choosing[_pid] = false; goto again
	fi;
	choosing[_pid] = false;

	for (i : 0 .. N - 1) {
		if
		:: i == _pid
		:: else ->
			!choosing[i];
			(number[i] == 0 || number[_pid] < number[i] || (number[_pid] == number[i] && _pid < i))
		fi
	}

	inside++;
	assert(inside == 1);
	inside--;

	number[_pid] = 0;
	goto again
}
