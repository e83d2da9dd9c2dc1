//@ options: --dialect pv
//@ check: safety
//@ expect: verdict=holds
//@ check: safety -D NO_PERMIT
//@ expect: verdict=violated kind=assertion,invariant
/*
 * Users share a few printers: a counting semaphore hands out permits, a lock protects the list of free printers.
 *
 * This model is written in the PV dialect, which adds to Promela: variables of type `lock` and `sema` with the
 * statements lock(x) and unlock(x), `invariant NAME condition` (must be true in every state), enumerations, and
 * iterators in `run`. A lock remembers who holds it. Spin does not read this file.
 *
 * Checked: the invariants and the assertions; no deadlock.
 *
 * Try this:
 *   -D NO_PERMIT   forget the semaphore: somebody finds no free printer
 */

#define USERS 3
#define PRINTERS 2

typedef enum { ready, printing } Activity;

sema permits = PRINTERS;
lock list;
Activity printer[PRINTERS];
byte owner[PRINTERS];
byte jobs;

invariant enough_printers jobs <= PRINTERS

proctype user(byte me)
{
	byte mine;

	do
	::
#ifndef NO_PERMIT
	   lock(permits);
#endif
	   lock(list);
	   if
	   :: printer[0] == ready -> mine = 0
	   :: printer[0] == printing && printer[1] == ready -> mine = 1
	   :: else -> assert(false)
	   fi;
	   printer[mine] = printing;
	   owner[mine] = me;
	   jobs++;
	   unlock(list);

	   assert(owner[mine] == me);

	   lock(list);
	   printer[mine] = ready;
	   jobs--;
	   unlock(list)
#ifndef NO_PERMIT
	   ;
	   unlock(permits)
#endif
	od
}

init
{
	run [i < USERS] user(i)
}
