// After a failed assertion the step is taken.
//@ check: safety
//@ expect: verdict=violated kind=assertion states=6
byte x;
active proctype P() { assert(x == 1); x = 1; assert(x == 1); x = 2 }
