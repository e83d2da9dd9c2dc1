//@ check: safety
//@ expect: verdict=holds states=10369
//@ check: safety -D FINE
//@ expect: verdict=holds states=24662
//@ check: safety -D NO_WAIT
//@ expect: verdict=violated kind=assertion states=10115
//@ check: safety -D RED_AT_ONCE
//@ expect: verdict=violated kind=assertion states=21776
/*
 * CNDFS: how several workers look for a cycle through an accepting state, by nested depth-first searches over common colours.
 *
 * (Evangelista, Laarman, Petrucci & van de Pol, 2012.) Every worker searches all of the graph; states on its path are cyan, for itself alone.
 * When it leaves a state that becomes blue, for all: nobody goes there any more. From an accepting state that it leaves it makes
 * a second search for a cyan state; the states that this visits become red, for all, when it is over: no second search goes there any more.
 * Before that the worker waits until the other accepting states among them are red, too: somebody has them on a path, and is about to search
 * from there.
 *
 * The graph: 0 -> 2 -> 1 -> 3 -> 2, where 0 and 1 accept: a cycle through 1, closed by a step between two states that do not accept.
 *
 * Checked: when everybody has finished, the cycle was found, and nobody waits forever.
 *
 * Try this:
 *   -D FINE          no step closes the cycle: nothing is found, and everybody finishes
 *   -D NO_WAIT       do not wait: a worker may make red what another one's second search still needs
 *   -D RED_AT_ONCE   make states red while the second search goes on
 */

#define WORKERS 2
#define N 4
#define NONE N
#define ACCEPTING(s) ((s) < 2)

#ifdef FINE
#define CYCLE 0
#define LAST NONE
#else
#define CYCLE 1
#define LAST 2
#endif

bit blue[N], red[N];
bit found;

inline successor(from, is)
{
	if
	:: from == 0 -> is = 2
	:: from == 1 -> is = 3
	:: from == 2 -> is = 1
	:: from == 3 -> is = LAST
	fi
}

/* From s, which has just become blue. */
inline second_search()
{
	t = s;
	do
	:: atomic { mine[t] = 1; u = t; successor(u, t) };
#ifdef RED_AT_ONCE
		red[u] = 1;
#endif
		if
		:: t == NONE -> break
		:: t != NONE && cyan[t] -> found = 1; break
		:: t != NONE && !cyan[t] && (mine[t] || red[t]) -> break
		:: t != NONE && !cyan[t] && !mine[t] && !red[t]
		fi
	od;
	t = 0;
	do
	:: t < N ->
#ifndef NO_WAIT
		if
		:: !mine[t] || t == s || !ACCEPTING(t)
		:: mine[t] && t != s && ACCEPTING(t) -> red[t] || found
		fi;
#endif
		t++
	:: else -> break
	od;
	t = 0;
	do
	:: t < N && mine[t] -> red[t] = 1; mine[t] = 0; t++
	:: t < N && !mine[t] -> t++
	:: t == N -> break
	od
}

active [WORKERS] proctype worker()
{
	byte path[N], depth, s, t, u;
	bit cyan[N], mine[N];

	cyan[0] = 1;
	depth = 1;
	do
	:: !found && depth > 0 ->
		atomic { s = path[depth - 1]; successor(s, t) };
		if
		:: t != NONE && cyan[t] && (ACCEPTING(s) || ACCEPTING(t)) -> found = 1
		:: t != NONE && !cyan[t] && !blue[t] ->
			atomic { path[depth] = t; depth++; cyan[t] = 1 }
		:: t == NONE || (cyan[t] && !ACCEPTING(s) && !ACCEPTING(t)) || (!cyan[t] && blue[t]) ->
			/* it has one successor, which was tried */
			blue[s] = 1;
			if
			:: ACCEPTING(s) -> second_search()
			:: else
			fi;
			atomic { cyan[s] = 0; path[depth - 1] = 0; depth--; s = 0; t = 0; u = 0 }
		fi
	:: found || depth == 0 -> break
	od;
	assert(found == CYCLE)
}
