// `select` gives every value of the range.
//@ check: safety
//@ expect: verdict=violated kind=assertion states=13
byte x;
active proctype P() {
  byte v;
  select (v : 2 .. 4);
  x = v;
  assert(x != 4)
}
