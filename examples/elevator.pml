//@ check: safety
//@ expect: verdict=holds states=2752
//@ check: safety -D NEAREST_FIRST
//@ expect: verdict=violated kind=assertion states=2942
//@ check: safety -D HASTY
//@ expect: verdict=violated kind=assertion states=6264
/*
 * An elevator: a controller, a motor and a door that work side by side, and people who press buttons at any time.
 *
 * The controller keeps its direction as long as somebody waits further on, then turns round (as disk drives do). It
 * commands the motor and the door over rendezvous channels, and each of them reports when it is done.
 *
 * Checked:
 *   - the cabin never moves with an open door, and the door never opens while it moves;
 *   - the cabin stays between the lowest and the highest floor;
 *   - nobody is forgotten: while a button is lit the cabin passes at most LIMIT floors before it opens its door
 *     there. ("Sooner or later" would be a liveness property; "after at most so many floors" is a stronger promise and an
 *     ordinary assertion.)
 *   - no deadlock.
 *
 * Try this:
 *   -D FLOORS=4        a higher house
 *   -D NEAREST_FIRST   always go to the nearest lit button: two people who keep pressing on neighbouring floors starve a third
 *   -D HASTY           do not wait for the door's report before starting the motor
 */

#ifndef FLOORS
#define FLOORS 3
#endif
#define TOP (FLOORS - 1)
#define LIMIT (2 * TOP)

mtype:command = { up, down, open, done };

chan motor_bus = [0] of { mtype:command };
chan door_bus = [0] of { mtype:command };

bool lit[FLOORS];		/* the buttons */
byte passed[FLOORS];		/* ghost: floors passed since the button was pressed */
byte floor;			/* where the cabin is */
bool moving, door_open;

active proctype people()
{
	byte f;

end:	do
	:: atomic {
		select (f : 0 .. TOP);
		if
		:: !lit[f] && !(f == floor && door_open) -> lit[f] = true
		:: else
		fi;
		f = 0
	   }
	od
}

/* The cabin has arrived at another floor. */
inline count_passed()
{
	for (f : 0 .. TOP) {
		if
		:: lit[f] && passed[f] <= LIMIT ->
			passed[f]++;
			assert(passed[f] <= LIMIT)
		:: else
		fi
	}
	f = 0
}

active proctype motor()
{
	byte f;

end:	do
	:: motor_bus?up ->
		moving = true;
		assert(!door_open && floor < TOP);
		atomic { floor++; count_passed() };
		moving = false;
		motor_bus!done
	:: motor_bus?down ->
		moving = true;
		assert(!door_open && floor > 0);
		atomic { floor--; count_passed() };
		moving = false;
		motor_bus!done
	od
}

active proctype door()
{
end:	do
	:: door_bus?open ->
		d_step {
			door_open = true;
			assert(!moving);
			lit[floor] = false;
			passed[floor] = 0
		};
		door_open = false;
		door_bus!done
	od
}

/* How far it is to the nearest lit button above and below; 0 when there is none. */
inline look_around()
{
	d_step {
		above = 0;
		below = 0;
		for (f : 0 .. TOP) {
			if
			:: lit[f] && f > floor && above == 0 -> above = f - floor
			:: lit[f] && f < floor -> below = floor - f
			:: else
			fi
		}
		f = 0
	}
}

#ifdef NEAREST_FIRST
#define GO_UP	(above > 0 && (below == 0 || above < below))
#else
#define GO_UP	(above > 0 && (going_up || below == 0))
#endif

active proctype controller()
{
	byte f, above, below;
	bool going_up = true;

end:	do
	:: lit[floor] ->
#ifdef HASTY
		door_bus!open
	:: door_bus?done
#else
		door_bus!open;
		door_bus?done
#endif
	:: !lit[floor] ->
		look_around();
		if
		:: GO_UP ->
			going_up = true;
			motor_bus!up;
			motor_bus?done
		:: !GO_UP && below > 0 ->
			going_up = false;
			motor_bus!down;
			motor_bus?done
		:: else			/* nobody waits */
		fi
	od
}
