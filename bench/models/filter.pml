/* Filter lock: Peterson's mutual exclusion for N threads. Shared bytes, fine-grained reads, no atomic. A
   thread climbs N-1 levels; at each level it waits for every other thread to be lower or to have come
   later.
   Sizes: small N=3, medium N=4. */
#ifndef N
#define N 3
#endif

byte level[N];
byte last[N];
byte inside;

active [N] proctype thread() {
  byte l, k;
  do
  :: l = 1;
     do
     :: l < N ->
        level[_pid] = l;
        last[l] = _pid;
        k = 0;
        do
        :: k < N && (k == _pid || level[k] < l || last[l] != _pid) -> k++
        :: k == N -> break
        od;
        l++
     :: l == N -> break
     od;
     inside++;
     assert(inside == 1);
     inside--;
     level[_pid] = 0
  od
}
