// A process runs only while its `provided` clause is true, also in the middle of atomic sequences.
//@ check: safety
//@ expect: verdict=violated kind=end-state states=6
bit turn;
byte x;
active proctype A() provided (turn == 0) { x++; turn = 1; x++ }
active proctype B() provided (turn == 1) { x = x + 10; turn = 0; x = x + 10 }
