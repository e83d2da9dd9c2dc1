//@ check: safety
//@ expect: verdict=holds states=1832
//@ check: safety -D IF_INSTEAD_OF_WHILE
//@ expect: verdict=violated kind=assertion states=4202
//@ check: safety -D ONE_CONDITION
//@ expect: verdict=violated kind=end-state states=2062
/*
 * A bounded buffer as a monitor: producers and consumers share a mutex and two condition variables, as in
 * pthreads or Java.
 *
 * `wait` releases the mutex and falls asleep in one step; after waking up it competes for the mutex again, so the
 * world may have changed in between. That is why the condition is tested in a loop. `notify` wakes one sleeper, any
 * of them, and does nothing when nobody sleeps.
 *
 * Checked: the buffer neither overflows nor underflows, and nobody sleeps forever (no deadlock).
 *
 * Try this:
 *   -D IF_INSTEAD_OF_WHILE   test the condition only once: another consumer slips in between the wake-up and the mutex
 *   -D ONE_CONDITION         producers and consumers sleep on the same condition variable: a notification meant for a
 *                            consumer wakes a producer, is lost on it, and in the end everybody sleeps
 */

#define SLOTS 1
#define PRODUCERS 2
#define CONSUMERS 2
#define THREADS (PRODUCERS + CONSUMERS)

unsigned used : 2;		/* the number of items in the buffer; few bits, so that broken variants stay small */
bool locked;			/* the mutex */

mtype:condition = { awake, not_full, not_empty };
mtype:condition asleep[THREADS] = awake;	/* what each thread sleeps on */

inline enter()	{ atomic { !locked -> locked = true } }
inline leave()	{ locked = false }

#ifdef ONE_CONDITION
#define KIND(c) not_full
#else
#define KIND(c) c
#endif

inline wait(c)
{
	d_step { locked = false; asleep[_pid] = KIND(c) };
	asleep[_pid] == awake;
	enter()
}

/* Wakes any one thread that sleeps on c. */
inline notify(c)
{
	if
	:: asleep[0] == KIND(c) -> asleep[0] = awake
	:: asleep[1] == KIND(c) -> asleep[1] = awake
	:: asleep[2] == KIND(c) -> asleep[2] = awake
	:: asleep[3] == KIND(c) -> asleep[3] = awake
	:: else
	fi
}

#ifdef IF_INSTEAD_OF_WHILE
#define WAIT_WHILE(blocked, c)	if :: blocked -> wait(c) :: else fi
#else
#define WAIT_WHILE(blocked, c)	do :: blocked -> wait(c) :: else -> break od
#endif

active [PRODUCERS] proctype producer()
{
	do
	:: enter();
	   WAIT_WHILE(used == SLOTS, not_full);
	   assert(used < SLOTS);
	   used++;
	   notify(not_empty);
	   leave()
	od
}

active [CONSUMERS] proctype consumer()
{
	do
	:: enter();
	   WAIT_WHILE(used == 0, not_empty);
	   assert(used > 0);
	   used--;
	   notify(not_full);
	   leave()
	od
}
