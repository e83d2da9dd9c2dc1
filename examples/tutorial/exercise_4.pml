//@ check: safety
//@ expect: verdict=holds states=6
/*
 * Exercise 4. There are two jugs, for three and for five litres, and a tap. How does one measure four litres? Write
 * the missing actions (emptying a jug, pouring one into the other until the first is empty or the second full), claim
 * that four litres are impossible, and read the solution in the shortest counterexample.
 */

#define SMALL 3
#define LARGE 5

byte small, large;

active proctype cook()
{
	do
	:: atomic { small < SMALL -> small = SMALL }
	:: atomic { large < LARGE -> large = LARGE }
	:: small == SMALL && large == LARGE -> break
	od
}
