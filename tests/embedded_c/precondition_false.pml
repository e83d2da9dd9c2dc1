// A precondition that fails on one of the ways.
byte x;

active [2] proctype add() {
  do
  :: x < 3 -> c_code [now.x < 3] { now.x++; }
  :: x >= 3 -> break
  od
}
