// An mtype variable as an argument of `run` is refused.
//@ check: safety
//@ expect: verdict=rejected
mtype = { a, b };
proctype C(mtype m) { assert(m == b) }
init { mtype v = b; run C(v) }
