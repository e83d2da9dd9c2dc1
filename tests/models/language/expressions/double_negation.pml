// `!!x` is a sorted send without a channel: refused.
//@ check: safety
//@ expect: verdict=rejected
byte x;
active proctype P() { assert(!!x == 0) }
