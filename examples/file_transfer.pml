//@ check: safety
//@ expect: verdict=holds states=876
//@ check: safety -D HASTY_RECEIVER
//@ expect: verdict=violated kind=assertion states=2106
//@ check: safety -D NO_BIT
//@ expect: verdict=violated kind=assertion states=924
//@ check: safety -D OVERCONFIDENT
//@ expect: verdict=violated kind=assertion states=876
/*
 * A file transfer protocol with a limited number of repetitions (in the manner of the Bounded Retransmission
 * Protocol): both sides must learn what became of the file, although the channels lose messages and the sender gives
 * up at some point.
 *
 * A file is a row of chunks, each marked as first or last and with an alternating bit. The sender repeats a chunk at
 * most RETRIES times, then it gives up. Its report is one of
 *   ok         every chunk was acknowledged,
 *   not_ok     the file did not arrive,
 *   dont_know  the last chunk was not acknowledged: it may have arrived or not (two generals cannot do better).
 * The receiver reports `ok` with the last chunk, and `not_ok` when the sender has been silent for so long that it must
 * have given up.
 *
 * Time: `timeout` is true when nothing else can happen, so the sender's timer fires only when a message has been lost.
 * The receiver's timer is longer than all repetitions together: it can only fire after the sender gave up.
 *
 * Checked: chunks arrive in order and once; the two reports fit together; no deadlock.
 *
 * Try this:
 *   -D HASTY_RECEIVER   the receiver's timer is as short as the sender's
 *   -D NO_BIT           the alternating bit is not looked at: a repeated chunk is taken for a new one
 *   -D OVERCONFIDENT    the sender says not_ok instead of dont_know
 */

#define CHUNKS 3
#define RETRIES 1
#define FILES 2

mtype:report = { none, ok, not_ok, dont_know };

chan forward = [1] of { bool, bool, bit, byte };	/* first, last, bit, which chunk */
chan backward = [1] of { bit };				/* the acknowledged bit */

mtype:report sender_says = none, receiver_says = none;
bool gave_up;				/* the sender has stopped in the middle; its silence tells the receiver */

active proctype sender()
{
	byte file, chunk, tries;
	bit parity;

	do
	:: file < FILES ->
		chunk = 0;
		do
		:: chunk < CHUNKS ->
			if
			:: forward!(chunk == 0), (chunk == CHUNKS - 1), parity, chunk
			:: skip					/* lost */
			fi;
			if
			:: backward?eval(parity) ->
				parity = 1 - parity;
				tries = 0;
				chunk++
			:: timeout ->
				if
				:: tries < RETRIES -> tries++
				:: else -> break
				fi
			fi
		:: else -> break
		od;
		if
		:: chunk == CHUNKS -> sender_says = ok
#ifndef OVERCONFIDENT
		:: chunk == CHUNKS - 1 -> sender_says = dont_know
#endif
		:: else -> sender_says = not_ok
		fi;
		if
		:: sender_says != ok ->
			gave_up = true;
			!gave_up	/* stays silent until the receiver has certainly noticed */
		:: else
		fi;
		tries = 0;
		assert(sender_says != ok || receiver_says == ok);
		assert(sender_says != not_ok || receiver_says != ok);
		d_step { sender_says = none; receiver_says = none };
		file++
	:: else -> break
	od
}

#ifdef NO_BIT
#define IS_NEW (in_step || first)
#else
#define IS_NEW ((in_step && parity == wanted) || (!in_step && first))
#endif

#ifdef HASTY_RECEIVER
#define SILENCE (timeout && (gave_up || next > 0))
#else
#define SILENCE (timeout && gave_up)
#endif

active proctype receiver()
{
	byte next, chunk;	/* the chunk that comes next, the one that came */
	bool first, last;
	bit parity, wanted;
	bool in_step;		/* `wanted` is known */

end:	do
	:: forward?first, last, parity, chunk ->
		if
		:: IS_NEW ->
			assert(chunk == next && first == (next == 0));
			in_step = true;
			wanted = 1 - parity;
			if
			:: last -> receiver_says = ok; next = 0
			:: else -> next = chunk + 1
			fi
		:: else			/* a repetition */
		fi;
		if
		:: backward!parity
		:: skip			/* lost */
		fi
	:: SILENCE ->
		if
		:: next > 0 -> receiver_says = not_ok; next = 0
		:: else
		fi;
		in_step = false;
		gave_up = false
	od
}
