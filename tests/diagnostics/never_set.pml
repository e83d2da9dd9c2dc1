/* The limit was to be set somewhere. */
byte limit, n;

active proctype counter() {
    do
    :: n < limit -> n++
    :: else -> break
    od
}
