// Local initial values are computed when the process starts.
//@ check: safety
//@ expect: verdict=holds states=17
byte g = 3;
proctype C(byte p) { byte a = p + g; byte b = a * 2; assert(b == 2 * (p + 3) || g == 4) }
init { run C(1); g = 4; run C(2) }
