// `timeout` is true only when no other process can move.
//@ check: safety
//@ expect: verdict=holds states=10
byte x;
active proctype P() {
  x == 2;
  x = 3
}
active proctype Q() {
  timeout -> assert(x == 0); x = 2
}
