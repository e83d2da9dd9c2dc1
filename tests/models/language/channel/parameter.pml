// A channel as a parameter of `run`.
//@ check: safety
//@ expect: verdict=holds states=11
chan left = [1] of { byte };
chan right = [1] of { byte };
proctype Copy(chan from; chan to) { byte v; from?v; to!v + 1 }
init {
  byte v;
  left!1;
  run Copy(left, right);
  right?v;
  assert(v == 2)
}
