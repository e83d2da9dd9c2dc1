//@ check: safety
//@ expect: verdict=holds
//@ check: ltl:served
//@ expect: verdict=violated kind=accept-cycle
//@ check: ltl:served --fair weak
//@ expect: verdict=violated kind=accept-cycle
//@ check: ltl:served --fair strong
//@ expect: verdict=holds
//@ check: ltl:served --fair weak -D TICKETS
//@ expect: verdict=holds
//@ check: ltl:served -D TICKETS
//@ expect: verdict=violated kind=accept-cycle
/*
 * Starvation, and how much fairness it takes to exclude it.
 *
 * Three clients share one lock, and each wants it again and again. Nobody can ever be stuck and no two are inside
 * together; but is client 0 served again and again?
 *
 * - With nothing said about the scheduler it is not: perhaps client 0 is never given the processor.
 * - Weak fairness (`--fair weak`) excludes that: a process that can move *all the time* moves in the end. It is not
 *   enough here. Whenever somebody else has the lock, client 0 cannot move, so it can not move all the time, and may come
 *   too late forever.
 * - Strong fairness (`--fair strong`) excludes this as well: a process that can move *again and again* moves in the end. Few
 *   real schedulers promise that.
 * - Better to repair the lock: -D TICKETS hands it out in the order of arrival. A client that has drawn its ticket waits for
 *   one condition that becomes true and stays true until it moves, and weak fairness is enough.
 */

#ifndef N
#define N 3
#endif

byte inside;		/* how many are inside */
bool has[N];		/* who is */

#ifdef TICKETS
byte next, serving;	/* modulo N: there are never more tickets out than clients */
#else
bool locked;
#endif

active [N] proctype client()
{
#ifdef TICKETS
	byte mine;
#endif

	do
	::
#ifdef TICKETS
	   d_step { mine = next; next = (next + 1) % N };
	   serving == mine;
#else
	   atomic { !locked -> locked = true };
#endif
	   d_step { inside++; has[_pid] = true };
	   assert(inside == 1);
	   d_step { inside--; has[_pid] = false };
#ifdef TICKETS
	   serving = (serving + 1) % N
#else
	   locked = false
#endif
	od
}

ltl served { [] <> has[0] }
