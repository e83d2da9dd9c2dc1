// An escape that begins with a receive waits for its sender.
//@ check: safety
//@ expect: verdict=holds states=19
chan stop = [0] of { bit };
byte x;
active proctype P() {
  do
  :: x < 3 -> x++
  :: else -> x = 0
  od unless { stop?1 -> x = 9 }
}
active proctype Q() { stop!1 }
