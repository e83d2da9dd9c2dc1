// A name that hides another is refused.
//@ check: safety
//@ expect: verdict=rejected
byte x;
active proctype P() { byte x; x = 1 }
