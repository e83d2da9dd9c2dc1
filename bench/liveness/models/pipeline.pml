/* A pipeline of bounded buffers: numbers go in modulo M and come out in order. No run is endless without output. */
#ifndef STAGES
#define STAGES 3
#endif
#ifndef CAP
#define CAP 3
#endif
#ifndef M
#define M 5
#endif
chan stage[STAGES + 1] = [CAP] of { byte };
byte out = 255;

active proctype source() {
  byte n;
  do
  :: stage[0]!n; n = (n + 1) % M
  od
}

active [STAGES] proctype worker() {
  byte n, me = _pid - 1;
  do
  :: stage[me]?n; stage[me + 1]!n
  od
}

active proctype sink() {
  byte n;
  do
  :: stage[STAGES]?n; out = n
  od
}

ltl flows { [] <> (out == 0) }
ltl follows { [] (out == 1 -> (out == 1 U out == 2)) }
