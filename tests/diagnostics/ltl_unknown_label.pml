/* There is no such label. */
byte x;

active proctype p() {
working:
    x = 1
}

ltl works { <> (p@waiting && x == 1) }
