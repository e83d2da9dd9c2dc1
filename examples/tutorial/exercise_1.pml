//@ check: safety
//@ expect: verdict=violated kind=assertion states=52
/*
 * Exercise 1. This lock looks right: wait until it is free, then take it. Find out how two workers get inside, and repair
 * it without changing what stands between `acquire` and `release`.
 */

bool locked;
byte inside;

inline acquire()	{ !locked; locked = true }
inline release()	{ locked = false }

active [2] proctype worker()
{
	do
	:: acquire();
	   inside++;
	   assert(inside == 1);
	   inside--;
	   release()
	od
}
