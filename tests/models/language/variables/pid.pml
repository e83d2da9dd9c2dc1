// `_pid` is the number of the process itself.
//@ check: safety
//@ expect: verdict=holds states=40
byte sum;
active [3] proctype P() { sum = sum + _pid; assert(_pid < 3) }
