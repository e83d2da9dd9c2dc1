//@ check: safety
//@ expect: verdict=holds states=36815
//@ check: safety -D STUBBORN
//@ expect: verdict=violated kind=assertion states=36835
//@ check: safety -D FORGETFUL
//@ expect: verdict=violated kind=assertion states=35754
/*
 * Paxos for a single decision (Lamport, 1998): servers agree on one value, although proposers compete, messages get
 * lost, and anybody may be slow forever.
 *
 * A proposer owns a ballot number. Phase 1: it asks the acceptors for the promise to ignore smaller ballots; who
 * promises also tells which value it has accepted so far, if any. Phase 2: with promises from a majority the proposer
 * asks them to accept a value: the one from the highest ballot it was told about, and its own only if there is none.
 * A value is chosen when a majority has accepted it in the same ballot.
 *
 * Losing a message is modelled on the receiver's side: an acceptor may throw away any request, and a proposer may stop
 * waiting at any time.
 *
 * Checked: at most one value is ever chosen (agreement). That something is chosen at all cannot be guaranteed by any
 * protocol in an asynchronous system, so waiting is a valid end.
 *
 * Try this:
 *   -D STUBBORN    proposers always propose their own value
 *   -D FORGETFUL   acceptors do not remember their promises (say, because they are not written to disk)
 */

#define ACCEPTORS 3
#define MAJORITY 2
#define PROPOSERS 2
#define NONE 0

mtype = { prepare, accept };

/* kind, ballot, value */
chan to_acceptor[ACCEPTORS] = [2 * PROPOSERS] of { mtype, byte, byte };
/* the promises: the ballot and value accepted so far */
chan to_proposer[PROPOSERS] = [ACCEPTORS] of { byte, byte };

byte votes[PROPOSERS + 1];		/* ghost: how many acceptors accepted in each ballot */
byte chosen = NONE;			/* ghost: the value on which they agreed */

/* The channels are large enough: this never blocks. */
inline broadcast(kind, what)
{
	atomic {
		for (i : 0 .. ACCEPTORS - 1) {
			to_acceptor[i]!kind(ballot, what)
		}
		i = 0
	}
}

proctype proposer(byte me)
{
	byte ballot = me + 1;
	byte value = ballot;		/* everybody has another wish */
	byte i, promises, highest, their_ballot, their_value;

	broadcast(prepare, NONE);

end:	do
	:: atomic {
			to_proposer[me]?their_ballot, their_value ->
			promises++;
			if
#ifndef STUBBORN
			:: their_ballot > highest ->
				highest = their_ballot;
				value = their_value
#endif
			:: else
			fi;
			their_ballot = 0;
			their_value = 0
		}
	:: promises >= MAJORITY -> break
	od;

	broadcast(accept, value)
}

inline count_vote()
{
	votes[ballot]++;
	if
	:: votes[ballot] == MAJORITY ->
		assert(chosen == NONE || chosen == value);
		chosen = value
	:: else
	fi
}

proctype acceptor(byte me)
{
	byte promised;			/* no ballot below this one */
	byte accepted, accepted_value;	/* the last vote */
	byte ballot, value;

end:	do
	:: atomic {
			to_acceptor[me]?prepare(ballot, _) ->
			if
			:: ballot > promised ->
#ifndef FORGETFUL
				promised = ballot;
#endif
				to_proposer[ballot - 1]!accepted, accepted_value
			:: else
			fi;
			ballot = 0
		}
	:: atomic {
			to_acceptor[me]?accept(ballot, value) ->
			if
			:: ballot >= promised ->
				promised = ballot;
				accepted = ballot;
				accepted_value = value;
				count_vote()
			:: else
			fi;
			ballot = 0;
			value = 0
		}
	:: to_acceptor[me]?_, _, _	/* lost */
	od
}

init
{
	byte i;

	atomic {
		for (i : 0 .. ACCEPTORS - 1) {
			run acceptor(i)
		}
		for (i : 0 .. PROPOSERS - 1) {
			run proposer(i)
		}
		i = 0
	}
}
