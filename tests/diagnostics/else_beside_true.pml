/* An option that can always be chosen. */
byte x;

active proctype p() {
    do
    :: true -> x = 1 - x; assert(x < 2)
    :: else -> break
    od
}
