// The variables of a process that is gone read as 0.
//@ check: safety
//@ expect: verdict=holds states=8
active proctype Q() { byte l; l = 4 }
active proctype P() { assert(Q[5]:l == 0); (Q[0]:l == 4); skip }
