//@ check: safety
//@ expect: verdict=holds states=41784
//@ check: safety -D TAKE_FIRST
//@ expect: verdict=violated kind=assertion states=50701
/*
 * When everybody is done: how the workers of a parallel search notice that there is nothing left.
 *
 * Every worker has a queue of packs. It expands a pack, which may give new packs, all put into its own queue; when its queue is
 * empty it takes a pack from another. A worker with nothing to do counts itself as idle. When all are idle the search is
 * over: packs are in queues or in the hands of workers, a worker goes idle with empty hands and an empty queue, and nobody
 * puts anything into the queue of another.
 *
 * The trap: a worker who sees a pack elsewhere must leave the idle count before it takes the pack. The other way round
 * there is a moment at which it has work in its hands and counts as idle.
 *
 * Checked: who goes home leaves no work behind, and all go home. (`hands` and `found` are ghost variables.)
 *
 * Try this:
 *   -D TAKE_FIRST   take the pack, then leave the idle count: one goes home while another still works
 */

#define WORKERS 3
#define PACKS 4			/* that are found in all, at most */

#define NEXT ((_pid + 1) % WORKERS)
#define OTHER ((_pid + 2) % WORKERS)
#define TAKE(from) atomic { queue[from] > 0 -> queue[from]--; hands++ }

byte queue[WORKERS];
byte idle;
byte hands;			/* packs that are being expanded */
byte found = 1;

active [WORKERS] proctype worker()
{
	byte from;

	if
	:: _pid == 0 -> queue[0] = 1
	:: else
	fi;
own:	if
	:: TAKE(_pid) -> goto expand
	:: else
	fi;
	idle++;
wait:	if
	:: idle == WORKERS -> goto home
	:: queue[NEXT] > 0 -> from = NEXT
	:: queue[OTHER] > 0 -> from = OTHER
	fi;
#ifdef TAKE_FIRST
	if
	:: TAKE(from) -> idle--; goto expand
	:: else -> goto wait
	fi;
#else
	idle--;
	if
	:: TAKE(from) -> goto expand
	:: else -> idle++; goto wait
	fi;
#endif
expand:	do
	:: atomic { found < PACKS -> found++; queue[_pid]++ }
	:: break
	od;
	hands--;
	goto own;

home:	assert(hands == 0);
	assert(queue[0] == 0 && queue[1] == 0 && queue[2] == 0)
}
