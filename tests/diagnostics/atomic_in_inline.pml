/* The inline waits; it is used inside atomic. */
bit lock;
byte x;

inline acquire() { lock == 0 -> lock = 1 }

active [2] proctype p() {
    atomic { x++; acquire() };
    assert(x <= 2);
    lock = 0
}
