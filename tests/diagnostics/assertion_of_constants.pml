/* Both sides are constants: nothing about the model is asserted. */
mtype = { red, green };
mtype light = red;

active proctype p() {
    light = green;
    assert(red != green);
    light == green
}
