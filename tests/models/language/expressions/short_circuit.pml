// `&&` and `||` stop early: no division by zero here.
//@ check: safety
//@ expect: verdict=holds states=5
byte z;
active proctype P() {
  assert(z == 0 || 1 / z == 1);
  assert(!(z != 0 && 1 / z == 1));
  assert((z == 0 -> 1 : 1 / z) == 1)
}
