// An atomic sequence in a loop is one step from loop head to loop head.
//@ check: safety
//@ expect: verdict=holds states=11
byte n;
active [2] proctype P() {
  do
  :: atomic { n < 4 -> n++; n++; n-- }
  :: n == 4 -> break
  od
}
