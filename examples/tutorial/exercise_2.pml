//@ check: safety
//@ expect: verdict=holds states=81
/*
 * Exercise 2. A bridge with one lane: cars from the east and from the west must never be on it together. Each car looks
 * at the other side's counter before it drives on. The property is missing: write it as an assertion, see it fail,
 * and repair the model.
 */

byte eastbound, westbound;	/* the cars on the bridge */

active [2] proctype car_from_west()
{
	do
	:: westbound == 0;
	   eastbound++;
	   /* on the bridge */
	   eastbound--
	od
}

active [2] proctype car_from_east()
{
	do
	:: eastbound == 0;
	   westbound++;
	   /* on the bridge */
	   westbound--
	od
}
