// Dividing by zero is a run-time error.
//@ check: safety
//@ expect: verdict=violated kind=runtime
byte z;
active proctype P() { z = 3 / z }
