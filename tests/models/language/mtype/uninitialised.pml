// An mtype variable without a value is 0.
//@ check: safety
//@ expect: verdict=holds states=5
mtype = { a, b };
mtype m;
active proctype P() { assert(m == 0); m = b; assert(m != a) }
