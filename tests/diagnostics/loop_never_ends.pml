/* After 255 comes 0. */
byte i, sum;

active proctype p() {
    for (i : 0 .. 255) {
        sum = sum + i
    }
    assert(sum == 128)
}
