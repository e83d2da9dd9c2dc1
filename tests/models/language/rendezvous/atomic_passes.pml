// When a rendezvous send ends in an atomic sequence of the receiver, control passes there.
//@ check: safety
//@ expect: verdict=holds states=12
chan q = [0] of { byte };
byte x;
active proctype S() {
  atomic { x = 1; q!1; x = 3 }
}
active proctype R() {
  atomic { q?1; assert(x == 1); x = 2; x++ }
}
active proctype Watch() {
  assert(x != 2)
}
