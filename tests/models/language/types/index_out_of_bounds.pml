// An index outside the array is a run-time error.
//@ check: safety
//@ expect: verdict=violated kind=runtime
byte a[2];
byte i = 2;
active proctype P() { a[i] = 1 }
