/* Dining philosophers; the last one takes the forks the other way round. Nobody can go round without eating. */
#ifndef N
#define N 6
#endif
bool fork[N];
byte eating;
bool hungry0, eats0;

active [N] proctype philosopher() {
  byte first = (_pid == N - 1 -> 0 : _pid), second = (_pid == N - 1 -> N - 1 : _pid + 1);
  do
  :: if :: _pid == 0 -> hungry0 = true :: else fi;
    atomic { !fork[first] -> fork[first] = true }
    atomic { !fork[second] -> fork[second] = true };
    atomic { eating++; eats0 = (_pid == 0) || eats0 };
    atomic { eating--; if :: _pid == 0 -> eats0 = false; hungry0 = false :: else fi };
    fork[second] = false;
    fork[first] = false
  od
}

ltl somebody { [] <> (eating > 0) }
ltl everybody { [] (hungry0 -> <> eats0) }
