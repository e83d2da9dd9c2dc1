//@ check: safety
//@ expect: verdict=holds
//@ check: progress
//@ expect: verdict=violated kind=progress-cycle
//@ check: progress -D KEEP_RIGHT
//@ expect: verdict=violated kind=progress-cycle
//@ check: progress --fair weak -D KEEP_RIGHT
//@ expect: verdict=holds
//@ check: progress --fair weak
//@ expect: verdict=violated kind=progress-cycle
/*
 * Two polite people in a narrow corridor: a livelock.
 *
 * They walk towards each other. Whoever sees the other on the same side steps aside, and the other may do so at the same
 * moment: left, right, left, right. Nobody is stuck, so this is no deadlock, and no assertion fails; but nothing is achieved
 * either. Progress labels say what counts as an achievement: a label that begins with `progress`. `--property progress` looks
 * for a run that goes on forever and passes such a label only finitely often. It is checked only when it is asked for.
 *
 * Without fairness a run in which one person falls asleep and the other dances alone would be a counterexample too, and
 * would hide what we look for; so ask with `--fair weak`. Then the dance for two is left, step by step.
 *
 * Try: -D KEEP_RIGHT. Who sees the other goes to his own right, which is always the same side, and the dance is over.
 */

mtype = { left, right };
mtype side[2] = left;	/* on which side of the corridor each walks, as seen by the first of them */

inline step_aside(who)
{
#ifdef KEEP_RIGHT
	if
	:: who == 0 -> side[who] = right
	:: else -> side[who] = left
	fi
#else
	if
	:: side[who] == left -> side[who] = right
	:: else -> side[who] = left
	fi
#endif
}

active [2] proctype person()
{
	do
	:: side[0] == side[1] ->	/* in each other's way */
		step_aside(_pid)
	:: side[0] != side[1] ->
progress:	side[_pid] = left	/* passed; and the next one comes along */
	od
}
