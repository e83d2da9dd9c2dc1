// Blocking inside a d_step is a run-time error.
//@ check: safety
//@ expect: verdict=violated kind=runtime
byte x;
active proctype P() {
  d_step { x = 1; x == 2; x = 3 }
}
