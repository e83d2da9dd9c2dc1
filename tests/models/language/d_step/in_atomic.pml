// A d_step inside an atomic sequence and an atomic sequence inside a d_step.
//@ check: safety
//@ expect: verdict=holds states=7
byte x;
active proctype P() {
  atomic { x++; d_step { x++; x++ }; x++ }
}
active proctype Q() {
  assert(x == 0 || x == 4)
}
