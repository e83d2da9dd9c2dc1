// A `provided` clause may ask for the pid of its process.
//@ check: safety
//@ expect: verdict=violated kind=end-state states=5
byte turn;
active [3] proctype P() provided (turn == _pid) {
  turn = (turn + 1) % 3;
  skip
}
