// `P[i]:x` reads a local variable of another process.
//@ check: safety
//@ expect: verdict=holds states=7
active proctype P() { byte l; l = 4; l = 5 }
active proctype Q() { P[0]:l == 5; assert(P[0]:l != 4) }
