//@ check: safety
//@ expect: verdict=holds states=9
/*
 * Solution 1. Between the test and the assignment the other worker can make the same test. Both belong into one step.
 */

bool locked;
byte inside;

inline acquire()	{ atomic { !locked -> locked = true } }
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
