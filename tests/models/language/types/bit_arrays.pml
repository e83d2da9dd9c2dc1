// The elements of a bit array are bytes: they are not truncated to one bit.
//@ check: safety
//@ expect: verdict=holds states=5
bit a[2]; bool c[2];
active proctype P() {
  a[0] = 2; c[1] = 300;
  assert(a[0] == 2 && c[1] == 44)
}
