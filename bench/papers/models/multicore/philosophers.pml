/* Dining philosophers: forks are shared bits. Each of N philosophers eats MEALS times; all but the last take the left
   fork first, so there is no deadlock.
   Accept label: the cycle of meals. It is passed MEALS times by each, so no cycle is accepted. */
#ifndef N
#define N 5
#endif
#ifndef MEALS
#define MEALS 1
#endif

bool taken[N];

proctype philosopher(byte first, second) {
  byte meals;
accept_thinking:
  do
  :: meals < MEALS ->
     atomic { !taken[first] -> taken[first] = true };
     atomic { !taken[second] -> taken[second] = true };
     meals++;
     taken[second] = false;
     taken[first] = false
  :: meals == MEALS -> break
  od
}

init {
  byte i;
  atomic {
    do
    :: i < N - 1 -> run philosopher(i, i + 1); i++
    :: else -> break
    od;
    run philosopher(0, N - 1)
  }
}
