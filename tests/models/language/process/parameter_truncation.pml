// An argument is truncated to the type of its parameter.
//@ check: safety
//@ expect: verdict=holds states=5
proctype C(byte b; bit t; short s) { assert(b == 44 && t == 1 && s == -1) }
init { run C(300, 3, 65535) }
