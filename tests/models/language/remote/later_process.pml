// Only a process type that stands before can be named in a remote reference.
//@ check: safety
//@ expect: verdict=rejected
active proctype P() { Q[1]:l == 0 }
active proctype Q() { byte l; l = 4 }
