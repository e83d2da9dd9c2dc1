//@ check: safety
//@ expect: verdict=holds states=438
//@ check: safety -D NO_BIT
//@ expect: verdict=violated kind=assertion states=2640
//@ check: safety -D BLIND_SENDER
//@ expect: verdict=violated kind=assertion states=2746
/*
 * The alternating-bit protocol over channels that lose messages (Bartlett, Scantlebury and Wilkinson, 1969).
 *
 * Every message carries one control bit. The sender repeats a message until the acknowledgement with the same bit
 * arrives, and only then goes on to the next message, with the other bit. So the receiver can tell a new message from a
 * repeated one, and the sender a new acknowledgement from a late one.
 *
 * The data are numbers that count up modulo MAX, so the receiver can assert that nothing is lost, doubled or
 * reordered. The sender's timer may fire at any time, also too early.
 *
 * Checked: the receiver accepts exactly 0, 1, 2 … ; no deadlock.
 *
 * Try this:
 *   -D NO_BIT         the receiver accepts every message: a repeated one is taken for new
 *   -D BLIND_SENDER   the sender believes every acknowledgement: a late one lets it skip a message that was lost
 */

#define MAX 4

chan data = [1] of { byte, bit };
chan acks = [1] of { bit };

active proctype sender()
{
	byte number;
	bit parity, seen;

	do
	:: data!number, parity			/* the first time, or again */
	:: acks?seen ->
		if
#ifdef BLIND_SENDER
		:: true ->
#else
		:: seen == parity ->
#endif
			number = (number + 1) % MAX;
			parity = 1 - parity
		:: else
		fi
	:: acks?_				/* lost on the way */
	od
}

active proctype receiver()
{
	byte number, expected;
	bit parity, wanted;

	do
	:: data?number, parity ->
		if
#ifdef NO_BIT
		:: true ->
#else
		:: parity == wanted ->
#endif
			assert(number == expected);
			expected = (expected + 1) % MAX;
			wanted = 1 - wanted
		:: else
		fi;
		acks!parity
	:: data?_, _				/* lost on the way */
	od
}
