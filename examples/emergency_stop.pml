//@ check: safety
//@ expect: verdict=holds states=38
//@ check: safety -D NO_RELEASE
//@ expect: verdict=violated kind=assertion states=45
//@ check: safety -D PRESS_RUNS_ON
//@ expect: verdict=violated kind=assertion states=65
/*
 * A press with an emergency stop, written with `unless`: the handler behind `unless` takes over as soon as its first
 * statement is executable, wherever the press is in its working cycle.
 *
 * That is convenient and dangerous in the same way as exceptions are: the handler must leave a clean world behind,
 * whatever was half done. Here the press shares the hydraulic pressure with another machine; who uses it
 * holds the valve.
 *
 * Checked: the ram moves only while the press holds the valve, it does not move after an emergency stop has been
 * handled, the two machines never use the pressure together, every cycle begins without
 * the valve, and nobody gets stuck.
 *
 * Try this:
 *   -D NO_RELEASE       the handler forgets to give the valve back. Nobody can use the pressure any more, and
 *                       yet there is no deadlock: the operator can still press the button
 *   -D PRESS_RUNS_ON    the handler forgets to stop the ram
 */

#define NOBODY 255

byte valve = NOBODY;			/* who has the pressure */
bool ram_moves;
bool stop_pressed;

inline take_valve()	{ atomic { valve == NOBODY -> valve = _pid } }
inline give_valve()	{ d_step { assert(valve == _pid); valve = NOBODY } }

active proctype press()
{
	do
	:: {
		assert(valve != _pid);		/* a new cycle begins with empty hands */
		take_valve();
		ram_moves = true;
		assert(valve == _pid);
		ram_moves = false;
		give_valve()
	   } unless {
		stop_pressed ->
		atomic {
#ifndef PRESS_RUNS_ON
			ram_moves = false;
#endif
#ifndef NO_RELEASE
			if
			:: valve == _pid -> give_valve()
			:: else
			fi;
#endif
			assert(!ram_moves)
		};
		stop_pressed = false		/* somebody resets the button */
	   }
	od
}

active proctype other_machine()
{
	do
	:: take_valve();
	   assert(!ram_moves);
	   give_valve()
	od
}

active proctype operator()
{
end:	do
	:: !stop_pressed -> stop_pressed = true
	od
}
