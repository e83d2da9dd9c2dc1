//@ check: safety
//@ expect: verdict=holds
//@ check: safety --memory tso
//@ expect: verdict=violated kind=assertion,end-state
//@ check: safety --memory pso
//@ expect: verdict=violated kind=assertion,end-state
//@ check: safety --memory tso -D FENCES
//@ expect: verdict=holds
//@ check: safety --memory pso -D FENCES
//@ expect: verdict=holds
/*
 * Szymanski's algorithm (1988) for two processes: a waiting room with a door.
 *
 * flag: 0 outside, 1 wants to enter, 2 waits for others, 3 is going in, 4 is in and the door is closed. Every step
 * depends on the other seeing the own flag; each store of the flag must be in memory before the other's is loaded.
 *
 * Checked: never two inside.
 */
#ifdef FENCES
#define FENCE fence;
#else
#define FENCE
#endif

byte flag[2];
byte inside;

active [2] proctype user()
{
	byte me = _pid;

	do
	:: flag[me] = 1;
	   FENCE
	   flag[1 - me] < 3;                   /* the door is open */
	   flag[me] = 3;
	   FENCE
	   if
	   :: flag[1 - me] == 1 ->             /* somebody else wants to enter: wait until it is in */
	      flag[me] = 2;
	      FENCE
	      flag[1 - me] == 4
	   :: flag[1 - me] != 1
	   fi;
	   flag[me] = 4;
	   FENCE
	   if                                  /* those with smaller numbers go first */
	   :: me == 1 -> flag[0] < 2
	   :: me == 0
	   fi;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   if                                  /* those in the waiting room have seen that the door is closed */
	   :: me == 0 ->
	      do
	      :: flag[1] < 2 -> break
	      :: flag[1] > 3 -> break
	      od
	   :: me == 1
	   fi;
	   flag[me] = 0
	od
}
