// An atomic sequence that blocks in the middle loses its exclusiveness and gets it back.
//@ check: safety
//@ expect: verdict=violated kind=assertion states=9
byte x, y;
active proctype P() {
  atomic { x = 1; y > 0; assert(x == 1); x = 2 }
}
active proctype Q() {
  x == 1 -> x = 3;
  y = 1
}
