// An escape of a d_step is looked at only before it.
//@ check: safety
//@ expect: verdict=holds states=4
byte x;
active proctype P() {
  d_step { x = 1; x = 2; x = 3 } unless { x == 2 -> x = 7 };
  assert(x == 3)
}
