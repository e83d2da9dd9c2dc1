//@ check: safety
//@ expect: verdict=violated kind=assertion states=195
//@ check: safety -D LOWE
//@ expect: verdict=holds states=190
/*
 * The Needham-Schroeder public-key protocol (1978) and the attack on it that Gavin Lowe found in 1995.
 *
 * Alice and Bob want to be sure to talk to each other. {x}K(p) is x encrypted for p, readable by p alone;
 * na and nb are fresh secret numbers (nonces):
 *
 *     1.  Alice -> Bob    {na, Alice}K(Bob)
 *     2.  Bob -> Alice    {na, nb}K(Alice)
 *     3.  Alice -> Bob    {nb}K(Bob)
 *
 * Mallory is the network: every message goes to him. He can drop it, pass it on (now or later, as often as he likes),
 * read it if it is encrypted for him, and make up new messages from the nonces he knows. He is also an honest-looking
 * user to whom Alice may want to talk. He cannot break the encryption.
 *
 * Checked: when Bob ends a session with Alice, Alice has been running one with Bob, and nb is a secret of the two; the same
 * the other way round for Alice. Waiting is a valid end everywhere, because Mallory may stop everything.
 *
 * The assertion fails: Alice starts a session with Mallory, and he uses her answers to convince Bob that he is
 * Alice. Breadth-first search (--search bfs) shows the attack in its shortest form. It was overlooked for 17 years.
 *
 * With -D LOWE the second message names its sender, {na, nb, Bob}K(Alice), as Lowe proposed, and everything holds.
 */

mtype = { alice, bob, mallory };	/* the users, and their keys */
mtype = { na, nb, nm };			/* the nonces */
mtype = { msg1, msg2, msg3 };
#define NOTHING 0

/* What kind of message, whose key, and up to three fields inside. */
chan to_network = [0] of { mtype, mtype, mtype, mtype, mtype };
chan to_alice = [0] of { mtype, mtype, mtype, mtype, mtype };
chan to_bob = [0] of { mtype, mtype, mtype, mtype, mtype };

#ifdef LOWE
#define SENDER(x) x
#else
#define SENDER(x) NOTHING
#endif

mtype alices_partner, bobs_partner;
bool knows_na, knows_nb;		/* what Mallory has learnt */

active proctype Alice()
{
	mtype nonce;

	if
	:: alices_partner = bob
	:: alices_partner = mallory
	fi;
	to_network!msg1(alices_partner, na, alice, NOTHING);
end:
	to_alice?msg2(alice, na, nonce, eval(SENDER(alices_partner)));
	assert(alices_partner != bob || (bobs_partner == alice && !knows_na));
end_sending:
	to_network!msg3(alices_partner, nonce, NOTHING, NOTHING)
}

active proctype Bob()
{
	mtype nonce;

end:
	to_bob?msg1(bob, nonce, bobs_partner, NOTHING);
end_sending:
	to_network!msg2(bobs_partner, nonce, nb, SENDER(bob));
end_waiting:
	to_bob?msg3(bob, nb, NOTHING, NOTHING);
	assert(bobs_partner != alice || (alices_partner == bob && !knows_nb))
}

inline learn(nonce)
{
	if
	:: nonce == na -> knows_na = true
	:: nonce == nb -> knows_nb = true
	:: else
	fi
}

/* The nonces that Mallory can put into a message; his own stands in for one that he does not know. */
#define NA	(knows_na -> na : nm)
#define NB	(knows_nb -> nb : nm)

active proctype Mallory()
{
	mtype kind, key, x, y;
	/* messages that he cannot read but can pass on: {na, alice}K(bob), {kept2, nb}K(alice), {kept3}K(bob) */
	bool kept1;
	mtype kept2, kept3;

end:	do
	:: atomic {
		to_network?kind, key, x, y, _ ->
		if
		:: key == mallory -> learn(x); learn(y)
		:: key != mallory && kind == msg1 -> kept1 = true
		:: key != mallory && kind == msg2 -> kept2 = x
		:: else -> kept3 = x
		fi
	   }

	/* pass on; what he does not have yet carries a key or a nonce that nobody accepts */
	:: to_bob!msg1((kept1 -> bob : mallory), na, alice, NOTHING)
	:: to_alice!msg2(alice, kept2, nb, SENDER(bob))
	:: to_bob!msg3(bob, kept3, NOTHING, NOTHING)

	/* make up */
	:: to_bob!msg1(bob, nm, alice, NOTHING)
	:: to_bob!msg1(bob, NA, alice, NOTHING)
	:: to_bob!msg1(bob, NB, alice, NOTHING)
	:: to_bob!msg1(bob, nm, mallory, NOTHING)
	:: to_bob!msg1(bob, NA, mallory, NOTHING)
	:: to_bob!msg1(bob, NB, mallory, NOTHING)
	:: to_alice!msg2(alice, NA, nm, SENDER(mallory))
	:: to_alice!msg2(alice, NA, NA, SENDER(mallory))
	:: to_alice!msg2(alice, NA, NB, SENDER(mallory))
	:: to_alice!msg2(alice, NA, nm, SENDER(bob))
	:: to_alice!msg2(alice, NA, NA, SENDER(bob))
	:: to_alice!msg2(alice, NA, NB, SENDER(bob))
	:: to_bob!msg3(bob, NB, NOTHING, NOTHING)
	od
}
