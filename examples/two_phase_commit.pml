//@ check: safety
//@ expect: verdict=holds states=4449
//@ check: safety -D IMPATIENT
//@ expect: verdict=violated kind=assertion states=5576
//@ check: safety -D OPTIMIST
//@ expect: verdict=violated kind=assertion states=3953
/*
 * Two-phase commit: a coordinator and N participants decide together whether a transaction commits.
 *
 * Phase 1: everybody votes. Phase 2: the coordinator decides (commit only if all voted yes) and tells the others.
 * Who voted no may abort at once; who voted yes has given up its freedom and must wait for the decision. The
 * coordinator can crash at any moment, also in the middle of telling; a participant can crash instead of voting.
 *
 * Checked: agreement (never a commit here and an abort there) and validity (no commit against a no). Deadlock is
 * checked too, with one exception that is the known weakness of this protocol: when the coordinator has crashed, and only
 * then, a participant that voted yes may wait forever. The label `end_in_doubt` declares that as acceptable. Rename it
 * to `in_doubt`, and the search shows how two-phase commit blocks.
 *
 * Try this:
 *   -D N=3         one participant more
 *   -D IMPATIENT   a participant in doubt aborts when the coordinator is gone: another may have been told to commit
 *   -D OPTIMIST    the coordinator decides as soon as one yes has arrived
 */

#ifndef N
#define N 2
#endif

mtype:vote = { yes, no };
mtype:decision = { undecided, commit, abort };

chan votes = [N] of { mtype:vote };
chan decisions[N] = [1] of { mtype:decision };

mtype:decision outcome[N + 1] = undecided;	/* what each has done; the last is the coordinator's */
bool voted_no;
bool coordinator_crashed;

inline decide(who, what)
{
	d_step {
		outcome[who] = what;
		assert(what == abort || !voted_no);
		for (i : 0 .. N) {
			assert(outcome[i] == undecided || outcome[i] == what)
		}
		i = 0
	}
}

active proctype coordinator()
{
	byte i, n, agreed;

	do
	:: votes?yes ->
		agreed++;
		if
#ifdef OPTIMIST
		:: agreed == 1 -> decide(N, commit); break
#else
		:: agreed == N -> decide(N, commit); break
#endif
		:: else
		fi
	:: votes?no -> decide(N, abort); break
	:: decide(N, abort); break			/* tired of waiting for the votes */
	:: goto crash
	od;

	for (n : 0 .. N - 1) {
		if
		:: decisions[n]!outcome[N]
		:: goto crash
		fi
	};
	goto finished;

crash:	coordinator_crashed = true;
finished:
	skip
}

active [N] proctype participant()
{
	byte me = _pid - 1;
	byte i;

	if
	:: votes!yes
	:: atomic { voted_no = true; votes!no };
	   decide(me, abort);
	   goto finished
	:: goto finished				/* crashes before voting */
	fi;

	if
	:: decisions[me]?commit -> decide(me, commit)
	:: decisions[me]?abort -> decide(me, abort)
#ifdef IMPATIENT
	:: coordinator_crashed -> decide(me, abort)
#endif
	:: timeout ->
		assert(coordinator_crashed);
end_in_doubt:	false					/* waits forever */
	fi;
finished:
	skip
}
