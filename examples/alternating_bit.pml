//@ check: safety
//@ expect: verdict=holds states=418
/*
 * The alternating-bit protocol over channels that lose messages. Every message carries one control bit; the sender
 * repeats a message until the acknowledgement with the same bit arrives. The data are numbers that count up
 * modulo MAX, so the receiver can assert that nothing is lost, doubled or reordered.
 */

#define MAX 4

mtype = { msg, ack };

chan to_receiver = [1] of { mtype, byte, bit };
chan to_sender = [1] of { mtype, bit };

active proctype sender()
{
	byte data;
	bit parity, seen;

	do
	:: to_receiver!msg(data, parity)
	:: to_sender?ack(seen) ->
		if
		:: seen == parity ->
			data = (data + 1) % MAX;
			parity = 1 - parity
		:: else
		fi
	:: timeout -> to_receiver!msg(data, parity)
	od
}

active proctype receiver()
{
	byte data, expected;
	bit parity, wanted;

	do
	:: to_receiver?msg(data, parity) ->
		if
		:: parity == wanted ->
			assert(data == expected);
			expected = (expected + 1) % MAX;
			wanted = 1 - wanted
		:: else
		fi;
		to_sender!ack(parity)
	:: to_receiver?msg(_, _)	/* the message is lost */
	od
}
