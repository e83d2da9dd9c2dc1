// `break` leaves the inner loop.
//@ check: safety
//@ expect: verdict=holds states=10
byte n;
active proctype P() {
  do
  :: n < 3 ->
    do
    :: n++; break
    od
  :: else -> break
  od;
  assert(n == 3)
}
