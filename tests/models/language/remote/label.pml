// `P[i]@label` asks where another process is.
//@ check: safety
//@ expect: verdict=violated kind=assertion,end-state states=14
byte x;
active proctype P() { x = 1; here: x = 2; x = 3 }
active proctype Q() { P[0]@here -> assert(x == 1 || x == 2) }
