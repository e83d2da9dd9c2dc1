//@ check: safety
//@ expect: verdict=violated kind=assertion states=48
/*
 * A wolf, a goat and a cabbage have to cross a river. The farmer's boat takes the farmer and at most one of them. Left
 * alone, the wolf eats the goat, and the goat eats the cabbage. How do all four get across?
 *
 * A model checker solves puzzles when one claims that there is no solution: the assertion below says that they are
 * never all on the other side, and the counterexample is the solution. With
 *
 *     spinor check --search bfs river_crossing.pml
 *
 * it is a shortest one, with seven crossings. Every crossing is one step (`d_step`), so the state space is the
 * puzzle's own.
 *
 * Try this: let the boat take two passengers; or make the cabbage immune and see how much shorter it gets.
 */

#define FARMER 0
#define WOLF 1
#define GOAT 2
#define CABBAGE 3

bool across[4];

#define ALONE(x, y)	(across[x] == across[y] && across[FARMER] != across[x])
#define EATEN		(ALONE(WOLF, GOAT) || ALONE(GOAT, CABBAGE))

/* The farmer takes x along; taking FARMER means to go alone. */
inline cross_with(x)
{
	across[x] == across[FARMER] ->
	across[FARMER] = !across[FARMER];
	across[x] = across[FARMER]
}

active proctype farmer()
{
	do
	:: EATEN -> break			/* no way to go on from here */
	:: !EATEN ->
		assert(!(across[FARMER] && across[WOLF] && across[GOAT] && across[CABBAGE]));
		if
		:: d_step { cross_with(FARMER); printf("the farmer goes alone\n") }
		:: d_step { cross_with(WOLF); printf("the farmer takes the wolf\n") }
		:: d_step { cross_with(GOAT); printf("the farmer takes the goat\n") }
		:: d_step { cross_with(CABBAGE); printf("the farmer takes the cabbage\n") }
		fi
	od
}
