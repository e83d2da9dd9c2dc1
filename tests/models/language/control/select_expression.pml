// `select` with a bound that is not constant is a loop of its own.
//@ check: safety
//@ expect: verdict=holds states=13
byte n = 2;
active proctype P() {
  byte v;
  select (v : 0 .. n);
  assert(v <= n)
}
