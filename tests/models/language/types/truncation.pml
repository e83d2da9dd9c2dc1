// Every type keeps its low bits.
//@ check: safety
//@ expect: verdict=holds states=10
bit i; bool o; byte b; short s; int n; unsigned u : 3; pid p;
active proctype P() {
  i = 2; o = 3; b = 257; s = 32769; n = -1; u = 13; p = -1;
  assert(i == 0 && o == 1 && b == 1 && s == -32767 && n == -1 && u == 5 && p == 255)
}
