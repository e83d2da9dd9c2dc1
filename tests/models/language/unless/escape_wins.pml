// As soon as the escape can run, the main sequence cannot.
//@ check: safety
//@ expect: verdict=holds states=7
byte x;
active proctype P() {
  { x = 1; x = 2; x = 3 } unless { x == 2 -> x = 10 };
  assert(x == 10)
}
