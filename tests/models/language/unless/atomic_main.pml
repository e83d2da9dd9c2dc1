// An escape interrupts an atomic main sequence between its statements.
//@ check: safety
//@ expect: verdict=holds states=10
byte x;
active proctype P() {
  atomic { x = 1; x = 2; x = 3 } unless { x == 2 -> x = 7 }
}
active proctype Q() {
  assert(x != 3)
}
