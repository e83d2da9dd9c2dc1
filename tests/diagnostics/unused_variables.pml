/* Left over from an earlier version. */
chan old = [1] of { byte };
byte level;

active proctype p() {
    byte i, j;
    i = 1;
    level = i;
    assert(level == 1)
}
