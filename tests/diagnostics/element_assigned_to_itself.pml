/* A copy that copies nothing. */
byte a[3], b[3] = 1;

active proctype copy() {
    byte i;
    for (i : 0 .. 2) {
        a[i] = a[i]
    }
    assert(a[0] == b[0])
}
