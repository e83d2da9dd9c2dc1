//@ check: safety
//@ expect: verdict=violated kind=end-state states=46
/*
 * The lost wake-up: one producer, one consumer, a small buffer, and two primitives `sleep` and `wakeup`.
 *
 * The consumer finds the buffer empty and decides to sleep. Before it does, the producer fills the buffer and wakes the
 * consumer, who is not asleep yet: the wake-up is lost. The consumer now falls asleep, the producer fills the buffer
 * and falls asleep too. The counterexample is exactly this story, and ends in a deadlock.
 *
 * Changing the buffer and waking up the other side is one step here, so that this is the only mistake: the buffer
 * neither overflows nor underflows.
 *
 * A test would need the scheduler to switch between two particular instructions; the model checker tries all of them.
 * producer_consumer.pml shows the repair: testing and falling asleep must be one step as seen by the other side.
 */

#define SLOTS 2

byte used;
bool producer_sleeps, consumer_sleeps;

active proctype producer()
{
	do
	:: if
	   :: used == SLOTS ->
		producer_sleeps = true;		/* too late: the last item may be gone already */
		!producer_sleeps
	   :: else
	   fi;
	   atomic {
		assert(used < SLOTS);
		used++;
		if
		:: used == 1 -> consumer_sleeps = false
		:: else
		fi
	   }
	od
}

active proctype consumer()
{
	do
	:: if
	   :: used == 0 ->
		consumer_sleeps = true;		/* too late: an item may have arrived already */
		!consumer_sleeps
	   :: else
	   fi;
	   atomic {
		assert(used > 0);
		used--;
		if
		:: used == SLOTS - 1 -> producer_sleeps = false
		:: else
		fi
	   }
	od
}
