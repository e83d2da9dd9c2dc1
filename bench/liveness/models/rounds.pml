/* A lock by tickets, taken a few times by everybody: all runs end, and all have had their turns. */
#ifndef N
#define N 3
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif
byte next, serving, inside, done;

active [N] proctype user() {
  byte mine, round;
  do
  :: round < ROUNDS ->
    atomic { mine = next; next++ };
    serving == mine;
    inside++;
    assert(inside == 1);
    inside--;
    serving++;
    round++
  :: else -> break
  od;
  done++
}

ltl all_done { <> (done == N) }
ltl safe { [] (inside <= 1) }
