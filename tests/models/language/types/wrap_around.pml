// Counting over the end of a type goes round.
//@ check: safety
//@ expect: verdict=holds states=10
byte b = 255; short s = 32767; unsigned u : 2 = 3; bit i = 1;
active proctype P() {
  b++; s++; u++; i++;
  assert(b == 0 && s == -32768 && u == 0 && i == 0);
  b--; u--;
  assert(b == 255 && u == 3)
}
