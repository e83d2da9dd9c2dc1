//@ check: safety
//@ expect: verdict=holds states=13410
//@ check: safety -D NO_FILTER -D N=3
//@ expect: verdict=violated kind=assertion states=4663
/*
 * Leader election in a ring (Chang and Roberts, 1979): nodes with different numbers agree on the one with the largest.
 *
 * Every node sends its number to its neighbour on the right. A node passes on what is larger than its own number
 * and swallows what is smaller; a number that comes back to its owner has been passed on by all, so it is the
 * largest, and its owner announces itself. Channels keep the order but may be slow. The numbers are dealt out in
 * all possible ways: the first thing that `init` does is a nondeterministic choice.
 *
 * Checked: at most one leader; it has the largest number; everybody hears about it before stopping; no deadlock.
 *
 * Try this:
 *   -D NO_FILTER   pass on everything: every number comes back, and several nodes call themselves leader
 */

#ifndef N
#define N 4		/* 3 or 4 */
#endif

mtype = { candidate, elected };

chan link[N] = [N] of { mtype, byte };
byte leaders;		/* ghosts */
byte informed;

proctype node(byte place, number)
{
	chan left = link[place];
	chan right = link[(place + 1) % N];
	byte other;

	right!candidate(number);

	do
	:: left?candidate(other) ->
		if
#ifdef NO_FILTER
		:: other != number -> right!candidate(other)
#else
		:: other > number -> right!candidate(other)
		:: other < number
#endif
		:: other == number ->
			leaders++;
			assert(leaders == 1 && number == N);
			right!elected(number)
		fi
	:: left?elected(other) ->
		if
		:: other != number -> right!elected(other)
		:: else
		fi;
		break
	od;

	assert(other == N);
	informed++
}

/* One option: give the number k to the next node if nobody has it yet. */
#define DEAL(k)	:: !dealt[k] -> dealt[k] = true; run node(i, k)

init
{
	byte i;
	bool dealt[N + 1];

	atomic {
		for (i : 0 .. N - 1) {
			if
			DEAL(1)
			DEAL(2)
			DEAL(3)
#if N > 3
			DEAL(4)
#endif
			fi
		}
	};

	informed == N;
	assert(leaders == 1)
}
