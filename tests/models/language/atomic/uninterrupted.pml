// An atomic sequence is not interleaved: the sum is always even.
//@ check: safety
//@ expect: verdict=holds states=15
byte x;
active [2] proctype P() {
  atomic { x++; x++ }
}
active proctype Watch() {
  assert(x % 2 == 0)
}
