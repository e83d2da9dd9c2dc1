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

typedef enum { idle, printing } Activity;

sema permits = PRINTERS;
lock list;
bool used[PRINTERS];
byte jobs;

invariant enough_printers jobs <= PRINTERS

proctype user(byte me)
{
	Activity doing = idle;
	byte mine;

	do
	::
#ifndef NO_PERMIT
	   lock(permits);
#endif
	   lock(list);
	   if
	   :: !used[0] -> mine = 0
	   :: used[0] && !used[1] -> mine = 1
	   :: else -> assert(false)
	   fi;
	   used[mine] = true;
	   jobs++;
	   unlock(list);

	   doing = printing;
	   assert(used[mine]);
	   doing = idle;

	   lock(list);
	   used[mine] = false;
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
