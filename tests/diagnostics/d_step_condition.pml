/* A d_step cannot wait in its middle. */
byte x, go;

active proctype p() {
    d_step { x = 1; go == 1; x = 2 };
    assert(x == 2)
}
active proctype q() { go = 1 }
