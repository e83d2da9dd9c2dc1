// Operators bind as in C.
//@ check: safety
//@ expect: verdict=holds states=6
active proctype P() {
  int x = 6;
  assert(1 + 2 * 3 == 7 && 8 >> 1 + 1 == 2);
  assert((x & 3 == 3) == 0 && (x | 1 ^ 1) == 6);
  assert(-x / 4 == -1 && -x % 4 == -2 && ~x == -7);
  assert(!x == 0 && !(!x) == 1 && 7 - 2 - 1 == 4)
}
