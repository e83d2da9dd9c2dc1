// The first statement of a d_step may wait.
//@ check: safety
//@ expect: verdict=holds states=6
byte x;
active proctype P() {
  d_step { x == 1 -> x = 2; x++ }
}
active proctype Q() {
  x = 1
}
