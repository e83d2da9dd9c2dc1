/* A printf is always executable. */
byte x = 1;

active proctype p() {
    if
    :: printf("one\n"); x = 2
    :: else -> x = 3
    fi;
    assert(x < 4)
}
