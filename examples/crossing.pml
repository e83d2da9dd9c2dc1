//@ check: safety
//@ expect: verdict=holds
//@ check: ltl:never_both
//@ expect: verdict=holds
//@ check: ltl:heard
//@ expect: verdict=violated kind=accept-cycle
//@ check: ltl:heard --fair weak
//@ expect: verdict=holds
//@ check: ltl:cars_again --fair weak
//@ expect: verdict=holds
//@ check: ltl:no_walk_unasked
//@ expect: verdict=holds
//@ check: ltl:heard --fair weak -D FORGETFUL
//@ expect: verdict=violated kind=accept-cycle
/*
 * A crossing with a button: properties of whole runs, in linear temporal logic.
 *
 * Cars have green until somebody presses the button. Then the controller turns their light red, lets people walk,
 * and gives the road back. Four things are wanted, and none of them is an assertion about one moment:
 *
 *   never_both       cars and people never have green together          [] !(...)         always
 *   no_walk_unasked  people have red until somebody asks                (!walk) U asked   until (or forever)
 *   heard            whoever asks will walk, sooner or later            [] (asked -> <> walk)
 *   cars_again       cars get green again and again                     []<> drive
 *
 * The first two say what must not happen, and a run that breaks them does so at some step. The other two say what must
 * happen in the end, so only a run that goes on forever can break them: the counterexample is a lasso, a way to a
 * circle and the circle. `heard` is broken by a run in which the controller simply never moves: nothing says that
 * it is ever its turn. That is no fault of the controller, so leave such runs out with `--fair weak`: who could
 * move all the time moves in the end.
 *
 * Try: -D FORGETFUL. Now the controller puts the button's light out when people have walked, not before. Who comes at the
 * wrong moment, and is the last one, waits forever.
 */

bool asked;			/* the button is lit */
bool drive = true, walk;	/* green for cars, for people */

active proctype controller()
{
end:	do
	:: asked ->
		drive = false;
#ifndef FORGETFUL
		asked = false;
#endif
		walk = true;
		walk = false;
#ifdef FORGETFUL
		asked = false;
#endif
		drive = true
	od
}

active proctype people()
{
	do
	:: asked = true
	:: break	/* nobody comes any more */
	od
}

ltl never_both { [] !(drive && walk) }
ltl no_walk_unasked { ([] !walk) || (!walk U asked) }
ltl heard { [] (asked -> <> walk) }
ltl cars_again { [] <> drive }
