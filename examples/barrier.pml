//@ check: safety
//@ expect: verdict=holds states=860
//@ check: safety -D NO_SENSE
//@ expect: verdict=violated kind=end-state states=504
/*
 * A reusable barrier: N threads work in rounds, and nobody starts a round before all have finished the one before.
 *
 * The last thread to arrive resets the counter and opens the barrier for all. The barrier has to work again in the
 * next round, while slow threads may still be on their way out of this one. The classic answer is to reverse the
 * sense: even rounds wait for `open == false`, odd rounds for `open == true`, so that yesterday's open door is
 * tomorrow's closed one.
 *
 * Checked: a thread that passes the barrier finds every other thread in the same round or just arriving from the
 * one before (rounds are counted modulo 4), and no deadlock.
 *
 * Try this:
 *   -D NO_SENSE   the door is opened by the last and closed by the first of the next round: a fast thread
 *                 closes it in front of a slow one, which then waits forever
 */

#define N 3
#define ROUNDS 4

byte arrived;
bool open;
byte round[N];		/* ghost: the round in which each thread works */

inline wait_for_all()
{
#ifdef NO_SENSE
	atomic {
		arrived++;
		if
		:: arrived == 1 -> open = false
		:: else
		fi;
		if
		:: arrived == N -> arrived = 0; open = true
		:: else
		fi
	};
	open == true
#else
	sense = !sense;
	atomic {
		arrived++;
		if
		:: arrived == N -> arrived = 0; open = sense
		:: else
		fi
	};
	open == sense
#endif
}

active [N] proctype thread()
{
	bool sense;
	byte i;

	do
	:: /* works */
	   round[_pid] = (round[_pid] + 1) % ROUNDS;
	   wait_for_all();
	   d_step {
		for (i : 0 .. N - 1) {
			assert(round[i] == round[_pid] || round[i] == (round[_pid] + 1) % ROUNDS)
		}
		i = 0
	   }
	od
}
