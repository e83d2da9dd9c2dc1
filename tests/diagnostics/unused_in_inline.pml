/* The variable of an inline, which is used three times: reported once. */
byte x;

inline enter(v) {
    byte before;
    x = v
}

active proctype p() { enter(1); enter(2); enter(3); assert(x == 3) }
