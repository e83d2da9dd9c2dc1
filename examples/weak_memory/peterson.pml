//@ check: safety
//@ expect: verdict=holds
//@ check: safety --memory tso
//@ expect: verdict=violated kind=assertion
//@ check: safety --memory tso --memory-bound 1
//@ expect: verdict=violated kind=assertion
//@ check: safety --memory tso -D WAIT
//@ expect: verdict=holds
//@ check: safety --memory tso -D WAIT -D RELEASE
//@ expect: verdict=holds
//@ check: safety --memory pso -D WAIT
//@ expect: verdict=violated kind=assertion
//@ check: safety --memory pso -D WAIT -D BETWEEN
//@ expect: verdict=violated kind=assertion
//@ check: safety --memory pso -D WAIT -D BETWEEN -D NO_COUNTER
//@ expect: verdict=holds
//@ check: safety --memory pso -D WAIT -D BETWEEN -D RELEASE
//@ expect: verdict=holds
/*
 * Peterson's algorithm (1981) as it is printed in books, on memory as it is sold.
 *
 * On x86 a store waits in a buffer of its processor. So both processes can set their flag, find the other's flag still
 * down in memory, and enter. A fence before the wait empties the buffer first. On SPARC in PSO mode stores to different
 * cells overtake each other as well: `turn` may reach memory before `flag`, and the flag may be down before the counter
 * that it protects has reached memory.
 *
 * Checked: never two inside (`inside` is a ghost variable, found as one and not buffered); the counter that the
 * processes protect is what its last owner left (`expected`, a ghost as well).
 *
 * Try this, with --memory tso and --memory pso:
 *   -D WAIT           a fence before the wait
 *   -D BETWEEN        a fence between flag and turn
 *   -D RELEASE        a fence before the flag goes down
 *   -D NO_COUNTER     mutual exclusion alone
 */
#ifdef WAIT
#define WAIT_FENCE fence;
#else
#define WAIT_FENCE
#endif
#ifdef BETWEEN
#define BETWEEN_FENCE fence;
#else
#define BETWEEN_FENCE
#endif
#ifdef RELEASE
#define RELEASE_FENCE fence;
#else
#define RELEASE_FENCE
#endif

bool flag[2];
byte turn;
bit counter;
byte inside;
bit expected;

active [2] proctype user()
{
	byte me = _pid;
	bit seen;

	do
	:: flag[me] = true;
	   BETWEEN_FENCE
	   turn = 1 - me;
	   WAIT_FENCE
	   do                              /* wait: one load at a time, as a processor does it */
	   :: flag[1 - me] == false -> break
	   :: turn == me -> break
	   od;
	   inside++;
	   assert(inside == 1);
#ifndef NO_COUNTER
	   seen = counter;
	   assert(seen == expected);
	   expected = 1 - seen;
	   counter = 1 - seen;
	   seen = 0;
#endif
	   inside--;
	   RELEASE_FENCE
	   flag[me] = false
	od
}
