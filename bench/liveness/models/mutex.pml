/* Peterson's lock for N processes (the filter lock) with busy waiting: somebody gets in again and again, or somebody only waits. */
#ifndef N
#define N 3
#endif
byte level[N], victim[N];
byte inside;

active [N] proctype user() {
  byte l, k;
  do
  :: l = 1;
    do
    :: l < N ->
      level[_pid] = l;
      victim[l] = _pid;
      k = 0;
      do
      :: k == N || victim[l] != _pid -> break
      :: k < N && victim[l] == _pid && (k == _pid || level[k] < l) -> k++
      od;
      l++
    :: l == N -> break
    od;
    inside++;
    inside--;
    level[_pid] = 0
  od
}

ltl entered { [] <> (inside == 1) }
ltl alone { [] (inside <= 1) }
