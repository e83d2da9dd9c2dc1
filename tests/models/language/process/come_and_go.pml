// Processes of three kinds come and go in any order; pids are used again by other kinds.
//@ check: safety
//@ expect: verdict=holds states=569
#ifndef N
#define N 2
#endif
byte done[3];
byte turn;
proctype a(byte i) { turn = i; done[0] = (done[0] + 1) % 3 }
proctype b(byte i) { (turn != i) || (_nr_pr == _pid + 1); done[1] = (done[1] + 1) % 3 }
proctype c(byte i; byte j) { byte k = j; do :: k > 0 -> k-- :: k == 0 -> break od; done[2] = (done[2] + k + 1) % 3 }
init {
  byte n;
  do
  :: n < N -> if :: run a(n) :: run b(n) :: run c(n, n % 3) fi; n++
  :: n >= N -> break
  od
}
