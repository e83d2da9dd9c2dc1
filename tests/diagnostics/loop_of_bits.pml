/* A bit is never above 1. */
bit b;
byte n;

active proctype p() {
    for (b : 0 .. 1) { n++ }
    assert(n == 2)
}
