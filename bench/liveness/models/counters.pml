/* Counters that go round, each on its own, and one that goes on when all others have moved. Fairness is an assumption of the formula. */
#ifndef N
#define N 3
#endif
#ifndef MAX
#define MAX 12
#endif
byte c[N], all;

active [N] proctype counter() {
  do
  :: c[_pid] < MAX -> c[_pid]++
  :: c[_pid] == MAX -> c[_pid] = 0
  :: c[_pid] > 2 -> c[_pid] = c[_pid] - 2
  od
}

active proctype watcher() {
  do
  :: c[0] == 0; c[1] == 0; all = (all + 1) % 4
  od
}

ltl assumed { (([] <> (c[0] == 0)) && ([] <> (c[1] == 0)) && ([] <> (all == 1))) -> ([] <> (all == 3)) }
ltl eventually { <> (all == 1) }
