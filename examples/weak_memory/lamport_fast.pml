//@ check: safety
//@ expect: verdict=holds
//@ check: safety --memory tso
//@ expect: verdict=violated kind=assertion
//@ check: safety --memory pso
//@ expect: verdict=violated kind=assertion
//@ check: safety --memory tso -D FENCES
//@ expect: verdict=holds
//@ check: safety --memory pso -D FENCES
//@ expect: verdict=holds
/*
 * Lamport's fast mutual exclusion (1987): seven accesses to shared variables when nobody else wants to enter.
 *
 * A process writes its number to x, looks at y, writes its number to y and looks at x again: each time a store is
 * followed by a load of another variable, which is what a store buffer turns round.
 *
 * Checked: never two inside.
 */
#ifdef FENCES
#define FENCE fence;
#else
#define FENCE
#endif

byte x, y;                     /* 0 is nobody; process i is i + 1 */
bool wants[2];
byte inside;

active [2] proctype user()
{
	byte me = _pid;

start:
	wants[me] = true;
	FENCE
	x = me + 1;
	FENCE
	if
	:: y != 0 ->
	   wants[me] = false;
	   y == 0;
	   goto start
	:: y == 0
	fi;
	y = me + 1;
	FENCE
	if
	:: x != me + 1 ->
	   wants[me] = false;
	   FENCE
	   wants[0] == false;
	   wants[1] == false;
	   if
	   :: y == me + 1 -> goto critical
	   :: y != me + 1 ->
	      y == 0;
	      goto start
	   fi
	:: x == me + 1
	fi;
critical:
	inside++;
	assert(inside == 1);
	inside--;
	y = 0;
	FENCE
	wants[me] = false;
	goto start
}
