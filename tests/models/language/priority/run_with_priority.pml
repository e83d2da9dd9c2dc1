// `run … priority n` and a later change by the parent.
//@ check: safety
//@ expect: verdict=holds states=11
byte x;
proctype C(byte v) { x = v; x = v + 1 }
init {
  run C(10) priority 3;
  run C(20) priority 2;
  x = 1
}
