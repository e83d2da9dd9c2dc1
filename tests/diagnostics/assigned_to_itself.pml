/* One side was meant to be another variable. */
byte here = 1, there = 2;

active proctype swap() {
    byte t = here;
    here = there;
    there = there;
    assert(t != here)
}
