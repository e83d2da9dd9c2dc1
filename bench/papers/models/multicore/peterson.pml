/* Peterson's mutual exclusion for N processes, with blocking waits. The first process enters at most ROUNDS times, the
   others forever.
   Accept label: the critical section of the first one. While it is inside the others come to a halt, and it does not
   come back forever, so no cycle is accepted, though most states are on cycles. */
#ifndef N
#define N 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

byte stage[N], last[N];
byte inside;

inline lock() {
  l = 1;
  do
  :: l < N ->
     stage[_pid] = l;
     last[l] = _pid;
     k = 0;
     do
     :: k < N && (k == _pid || stage[k] < l || last[l] != _pid) -> k++
     :: k == N -> break
     od;
     l++
  :: l == N -> break
  od;
  k = 0;
  l = 0;
  inside++;
  assert(inside == 1)
}

inline unlock() {
  inside--;
  stage[_pid] = 0
}

active proctype guest() {
  byte l, k, round;
  do
  :: round < ROUNDS ->
     lock();
accept_inside:
     round++;
     unlock()
  :: round == ROUNDS -> break
  od
}

active [N - 1] proctype member() {
  byte l, k;
  do
  :: lock();
     unlock()
  od
}
