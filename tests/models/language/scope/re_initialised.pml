// A block-local variable is initialised anew on each pass.
//@ check: safety
//@ expect: verdict=holds states=24
byte n;
active proctype P() {
  do
  :: n < 3 -> byte t; byte u = 5; assert(t == 0 && u == 5); t = 9; u = 1; n++
  :: else -> break
  od
}
