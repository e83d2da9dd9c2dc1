// The sender of a rendezvous keeps its atomic sequence when the receiver has none.
//@ check: safety
//@ expect: verdict=holds states=11
chan q = [0] of { byte };
byte x;
active proctype S() {
  atomic { x = 1; q!1; x = 3 }
}
active proctype R() {
  q?1;
  x = 2
}
