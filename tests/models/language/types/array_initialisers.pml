// One value for all elements, or a list.
//@ check: safety
//@ expect: verdict=holds states=3
byte a[3] = 7;
byte b[3] = { 1, 2, 3 };
active proctype P() {
  byte c[2] = { 4, 5 };
  assert(a[2] == 7 && b[0] == 1 && b[2] == 3 && c[1] == 5)
}
