//@ check: safety
//@ expect: verdict=holds states=31322
//@ check: safety -D FORGETS_VOTE -D TERMS=1
//@ expect: verdict=violated kind=assertion states=4647
//@ check: safety -D STALE_VOTES
//@ expect: verdict=violated kind=assertion states=35846
/*
 * The leader election of Raft (Ongaro and Ousterhout, 2014): in every term at most one server becomes leader.
 *
 * When its timer fires, a server starts a new term, votes for itself and asks the others for their votes. A server
 * votes at most once in a term, first come, first served. A majority makes a leader. A message from a later term moves
 * a server into that term. Messages get lost (also when a mailbox is full), timers fire at any time, and servers crash
 * and come back: then they have forgotten everything but their term and their vote, which they keep on disk.
 *
 * Checked: election safety, that is, never two leaders in the same term. Terms are limited to TERMS, since a search
 * cannot follow them without end. No progress is promised: waiting is a valid end.
 *
 * Try this:
 *   -D FORGETS_VOTE   the vote is not kept on disk: a server votes, crashes, and votes again
 *   -D STALE_VOTES    a candidate counts votes without looking at their term
 */

#define N 3
#define MAJORITY 2
#ifndef TERMS
#define TERMS 2
#endif
#define ROOM 1			/* in each mailbox */
#define NOBODY 255

mtype = { request, vote };

chan mailbox[N] = [ROOM] of { mtype, byte, byte };		/* what, term, sender */
byte leader[TERMS + 1] = NOBODY;			/* ghost: who won each term */

inline send(to, what)
{
	if
	:: len(mailbox[to]) < ROOM -> mailbox[to]!what(term, _pid)
	:: else				/* lost */
	fi
}

active [N] proctype server()
{
	byte term;			/* on disk */
	byte voted_for = NOBODY;	/* on disk: the vote in this term */
	byte votes;			/* as a candidate: the votes received; 0: not a candidate */
	byte t, from;

end:	do
	/* The timer fires: a new term begins. */
	:: atomic {
		term < TERMS ->
		term++;
		voted_for = _pid;
		votes = 1;
		send((_pid + 1) % N, request);
		send((_pid + 2) % N, request)
	   }

	:: atomic {
		mailbox[_pid]?request(t, from) ->
		if
		:: t > term -> term = t; voted_for = NOBODY; votes = 0
		:: else
		fi;
		if
		:: t == term && voted_for == NOBODY ->
			voted_for = from;
			send(from, vote)
		:: else
		fi;
		t = 0; from = 0
	   }

	:: atomic {
		mailbox[_pid]?vote(t, from) ->
		if
#ifdef STALE_VOTES
		:: votes > 0 ->
#else
		:: votes > 0 && t == term ->
#endif
			votes++;
			if
			:: votes == MAJORITY ->
				assert(leader[term] == NOBODY);
				leader[term] = _pid;
				votes = 0
			:: else
			fi
		:: else
		fi;
		t = 0; from = 0
	   }

	:: mailbox[_pid]?_, _, _	/* lost */

	/* Crashes and comes back. */
	:: atomic {
#ifdef FORGETS_VOTE
		voted_for != NOBODY -> voted_for = NOBODY;
#else
		votes > 0 ->
#endif
		votes = 0
	   }
	od
}
