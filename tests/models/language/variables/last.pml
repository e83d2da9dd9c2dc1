// `_last` is the pid of the process that moved last.
//@ check: safety
//@ expect: verdict=holds states=21
byte x;
active proctype P() { x = 1; (_last == 1); x = 2 }
active proctype Q() { (x == 1); skip; skip }
