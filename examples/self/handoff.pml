//@ check: safety
//@ expect: verdict=holds states=16501
//@ check: safety -D COUNT_LATE
//@ expect: verdict=violated kind=assertion,end-state states=30154
//@ check: safety -D FINISH_EARLY
//@ expect: verdict=violated kind=assertion,end-state states=28286
//@ check: safety -D WAIT_FOR_ROOM
//@ expect: verdict=violated kind=end-state states=12010
/*
 * Stack slicing: how workers in a ring give work to each other, and notice that there is none left.
 *
 * A worker searches from a root. States that are far from it become roots for the right neighbour: they are put into its queue, which has
 * one writer, one reader and little room. Who finds the queue full goes on by itself. Roots that were given to somebody and are not
 * finished are counted. A root is counted before anybody can see it, and taken off the count when everything that it led to has been
 * counted. So at zero there is nothing left anywhere. (Safra's algorithm for machines that send messages lets a token go round and
 * add up what each has sent and received; where memory is shared the sum can be kept in one place.)
 *
 * Checked: who goes home leaves no work behind, and all go home. (`hands` and `roots` are ghost variables.)
 *
 * Try this:
 *   -D COUNT_LATE      a root is counted after it was put into the queue
 *   -D FINISH_EARLY    a root is taken off the count when its search begins
 *   -D WAIT_FOR_ROOM   wait until the neighbour has room: all may wait for each other
 */

#define WORKERS 3
#define ROOM 1			/* of a queue */
#define ROOTS 9			/* that there are in all, at most */
#define NEXT ((_pid + 1) % WORKERS)

byte queue[WORKERS];
byte unfinished = 1;
byte hands;			/* roots that are being searched */
byte roots = 1;

active [WORKERS] proctype worker()
{
	if
	:: _pid == 0 -> hands++; goto search
	:: else
	fi;
next:	if
	:: atomic { queue[_pid] > 0 -> queue[_pid]--; hands++ }
	:: unfinished == 0 -> goto home
	fi;
search:
#ifdef FINISH_EARLY
	unfinished--;
#endif
	do
	:: atomic { roots < ROOTS -> roots++ };
#ifndef COUNT_LATE
		unfinished++;
#endif
		if
		:: queue[NEXT] < ROOM -> queue[NEXT]++
#ifndef WAIT_FOR_ROOM
		:: else -> unfinished--		/* goes on by itself */
#endif
		fi;
#ifdef COUNT_LATE
		unfinished++
#endif
	:: break
	od;
	hands--;
#ifndef FINISH_EARLY
	unfinished--;
#endif
	goto next;

home:	assert(hands == 0);
	assert(queue[0] == 0 && queue[1] == 0 && queue[2] == 0)
}
