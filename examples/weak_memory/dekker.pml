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
 * Dekker's algorithm (in Dijkstra, 1965), the first solution for two processes, on memory with store buffers.
 *
 * Whoever raises its flag and sees the other's down may enter. With a store buffer both flags can be seen down. A fence
 * between the store to the own flag and the load of the other's repairs it, at both places where the flag is raised;
 * `spinor check --memory tso --suggest-fences` finds it.
 *
 * Checked: never two inside.
 */
#ifdef FENCES
#define FENCE fence;
#else
#define FENCE
#endif

bool flag[2];
byte turn;
byte inside;

active [2] proctype user()
{
	byte me = _pid;

	do
	:: flag[me] = true;
	   FENCE
	   do
	   :: flag[1 - me] == false -> break
	   :: flag[1 - me] == true ->
	      if
	      :: turn == me
	      :: turn != me ->
	         flag[me] = false;
	         turn == me;
	         flag[me] = true;
	         FENCE
	      fi
	   od;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   turn = 1 - me;
	   flag[me] = false
	od
}
