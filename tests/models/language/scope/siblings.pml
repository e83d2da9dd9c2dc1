// Sibling blocks may use the same name.
//@ check: safety
//@ expect: verdict=holds states=7
byte x;
active proctype P() {
  { byte t = 1; x = x + t }
  { byte t = 2; x = x + t }
  assert(x == 3)
}
