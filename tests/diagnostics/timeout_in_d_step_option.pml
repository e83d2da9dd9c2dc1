/* The same as an option inside. */
byte lost;

active proctype p() {
    d_step {
        lost = 0;
        if
        :: timeout -> lost = 1
        :: else
        fi
    };
    assert(lost == 0)
}
