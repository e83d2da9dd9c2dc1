// `for` over a range and over an array.
//@ check: safety
//@ expect: verdict=holds states=26
byte a[3] = { 2, 3, 4 };
active proctype P() {
  byte i, sum;
  for (i : 1 .. 3) { sum = sum + i }
  assert(sum == 6 && i == 4);
  for (i in a) { sum = sum + a[i] }
  assert(sum == 15)
}
