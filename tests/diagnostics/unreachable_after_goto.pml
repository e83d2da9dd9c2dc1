/* Nothing jumps to the statement between the jump and its target. */
byte x;

active proctype p() {
again:
    if
    :: x < 3 -> x++; goto again
    :: else -> goto done
    fi;
    x = 0;
done:
    assert(x == 3)
}
