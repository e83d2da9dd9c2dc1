/* No option for a third value. */
byte mode = 2, out;

active proctype p() {
    d_step {
        out = 0;
        if
        :: mode < 1 -> out = 1
        :: mode > 2 -> out = 2
        fi
    };
    mode = out
}
