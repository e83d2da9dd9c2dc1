// An inline may call another.
//@ check: safety
//@ expect: verdict=holds states=5
byte x;
inline inc(v) { v++ }
inline inc2(v) { inc(v); inc(v) }
active proctype P() { inc2(x); assert(x == 2) }
