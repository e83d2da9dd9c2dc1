//@ check: safety
//@ expect: verdict=holds states=21
//@ check: safety -D NOT_ATOMIC
//@ expect: verdict=violated kind=assertion states=243
/*
 * Solution 2. The property can stand in a process of its own: its assertion is executed once, at any moment, and the
 * search tries all moments. With -D NOT_ATOMIC it fails as it does for the exercise. The repair makes looking and driving
 * on one step.
 */

byte eastbound, westbound;	/* the cars on the bridge */

#ifdef NOT_ATOMIC
#define DRIVE_ON(other, mine)	other == 0; mine++
#else
#define DRIVE_ON(other, mine)	atomic { other == 0 -> mine++ }
#endif

active [2] proctype car_from_west()
{
	do
	:: DRIVE_ON(westbound, eastbound);
	   /* on the bridge */
	   eastbound--
	od
}

active [2] proctype car_from_east()
{
	do
	:: DRIVE_ON(eastbound, westbound);
	   /* on the bridge */
	   westbound--
	od
}

active proctype monitor()
{
	assert(eastbound == 0 || westbound == 0)
}
