// The conditional expression evaluates one side.
//@ check: safety
//@ expect: verdict=holds states=9
byte a[2] = { 3, 4 };
active proctype P() {
  byte i;
  do
  :: i < 2 -> assert((i == 0 -> a[0] : a[1]) == 3 + i); i++
  :: else -> break
  od
}
