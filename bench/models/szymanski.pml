/* Szymanski's mutual exclusion: a waiting room with an entry door and an exit door, one flag of five values
   per thread. Shared bytes, every flag read on its own.
   Sizes: small N=3, medium N=4. */
#ifndef N
#define N 3
#endif

/* 0 outside, 1 wants in, 2 waits for the others, 3 in the doorway, 4 the door is closed behind it */
byte flag[N];
byte inside;

/* Wait, thread by thread from `from` up to `to`, until the condition holds for k. */
#define EACH(from, to, condition) \
  k = from; do :: k < to && (condition) -> k++ :: k >= to -> break od

active [N] proctype thread() {
  byte k;
  do
  :: flag[_pid] = 1;
     EACH(0, N, flag[k] < 3);
     flag[_pid] = 3;
     k = 0;
     do
     :: k < N && flag[k] != 1 -> k++
     :: k < N && flag[k] == 1 ->
        flag[_pid] = 2;
        k = 0;
        do
        :: flag[k] != 4 -> k = (k + 1) % N
        :: flag[k] == 4 -> break
        od;
        break
     :: k == N -> break
     od;
     flag[_pid] = 4;
     EACH(0, _pid, flag[k] < 2);
     inside++;
     assert(inside == 1);
     inside--;
     EACH(_pid + 1, N, flag[k] < 2 || flag[k] == 4);
     flag[_pid] = 0
  od
}
