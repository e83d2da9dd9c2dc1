//@ check: safety
//@ expect: verdict=holds states=13433
//@ check: safety -D NUMBERS=2
//@ expect: verdict=violated kind=assertion states=39228
/*
 * A sliding window protocol (go-back-N) over channels that lose messages.
 *
 * The sender may be up to WINDOW messages ahead of the acknowledgements. Messages carry only a small sequence number,
 * counted modulo NUMBERS. The receiver takes them strictly in order and answers every message with the number that it
 * expects next, which acknowledges all before. When the timer fires, the sender goes back to the first message that is
 * not acknowledged. The timer may fire at any moment, also too early, which only costs repetitions.
 *
 * How many sequence numbers are needed? WINDOW + 1; with fewer, a repeated old message looks like a new one.
 *
 * Checked: the receiver gets message 0, 1, 2 … in order, none lost, doubled or invented (`payload` is the true number,
 * which the protocol itself never looks at); the sender never believes more than what is true; no deadlock.
 * That every message arrives in the end is a liveness property and needs a fair channel.
 *
 * Try this:
 *   -D NUMBERS=2               as many numbers as the window is wide: lose both acknowledgements, and see
 *   -D WINDOW=3 -D CAPACITY=2  a wider window, longer channels; watch the number of states
 */

#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef NUMBERS
#define NUMBERS (WINDOW + 1)
#endif
#ifndef COUNT
#define COUNT 4			/* the messages to be sent */
#endif
#ifndef CAPACITY
#define CAPACITY 1		/* of the channels */
#endif

chan data = [CAPACITY] of { byte, byte };	/* sequence number, payload */
chan acks = [CAPACITY] of { byte };		/* the sequence number expected next */

unsigned received : 3;		/* how many messages the receiver has taken; COUNT must fit */

active proctype sender()
{
	byte first;		/* the first message without an acknowledgement */
	byte next;		/* the next message to be sent */
	byte number;

	do
	:: next < COUNT && next < first + WINDOW ->
		if
		:: data!next % NUMBERS, next
		:: skip					/* lost */
		fi;
		next++
	:: acks?number ->
		/* advance to the message that the receiver expects, if it is in the window; older ones tell nothing new */
		d_step {
			byte m = first;
			do
			:: m < next && m % NUMBERS != number -> m++
			:: else -> break
			od;
			if
			:: m % NUMBERS == number -> first = m
			:: else
			fi;
			m = 0;
			number = 0
		};
		assert(first <= received)
	:: first < next -> next = first			/* the timer fires */
	:: first == COUNT -> break
	od
}

active proctype receiver()
{
	byte number, payload;

end:	do
	:: data?number, payload ->
		if
		:: number == received % NUMBERS ->
			assert(payload == received);
			received++
		:: else
		fi;
		if
		:: acks!received % NUMBERS
		:: skip					/* lost */
		fi;
		number = 0;
		payload = 0
	od
}
