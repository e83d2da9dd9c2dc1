// `else` runs exactly when no other option of the choice can.
//@ check: safety
//@ expect: verdict=violated kind=assertion states=29
byte x;
active proctype P() {
  do
  :: x == 0 -> x = 1
  :: x == 1 -> x = 2
  :: else -> break
  od;
  assert(x == 2)
}
active proctype Q() { x = 5 }
