//@ check: ctl:recoverable
//@ expect: verdict=holds
//@ check: ctl:undoable
//@ expect: verdict=holds
//@ check: ctl:settles
//@ expect: verdict=violated kind=formula
//@ check: mu:free
//@ expect: verdict=holds
//@ check: ctl:recoverable -D BURNT
//@ expect: verdict=violated kind=formula
//@ check: ltl:goes_home
//@ expect: verdict=violated kind=accept-cycle
/*
 * A machine that can always be brought home: what can happen, and what must.
 *
 * A robot arm moves between five positions as it is told. Nobody promises that it ever goes home: somebody may play with it
 * forever. So `[] <> (at == HOME)`, "home again and again", is false, and rightly so. What the builder promises is something
 * else: wherever the arm is, there is a way to bring it home. That speaks about what *can* happen in each state, and no
 * formula about single runs can say it. CTL can: AG EF home, "on all runs always (AG) there is a run on which at some time (EF)
 * the arm is home". `undoable` says it of single steps: what one step has done, another one can undo.
 *
 * Try: -D BURNT. In the outermost position the motor may burn out; then the arm can still be moved, but no longer back. The
 * counterexample is the way to a state from which no way leads home.
 */

#define HOME 0
#define FAR 4

byte at = HOME;
bool burnt = false;

active proctype arm()
{
	do
	:: atomic { at < FAR && !burnt -> at++ }
	:: atomic { at > HOME && !burnt -> at-- }
#ifdef BURNT
	:: atomic { at == FAR && !burnt -> burnt = true }
	:: atomic { burnt -> at = FAR - 1 }
#endif
	od
}

ctl recoverable { AG EF (at == HOME) }
ctl undoable { AG (at == 2 -> AX EX at == 2) }
ctl settles { AF AG (at == HOME) }
mu free { nu Z. (<>true && []Z) }
ltl goes_home { [] <> (at == HOME) }
