// A channel received in a message can be used.
//@ check: safety
//@ expect: verdict=holds states=12
chan where = [0] of { chan };
chan data = [1] of { byte };
active proctype A() { where!data; byte v; data?v; assert(v == 4) }
active proctype B() { chan c; where?c; c!4 }
