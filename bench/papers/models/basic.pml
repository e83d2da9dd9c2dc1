/* Two processes that count forever, each for itself: an in-stack proviso multiplies them.
   Figure 5 of "Performance Studies of PV" (Gopalakrishnan et al., 2001). */
active proctype P() {
    byte x;
    do
    :: x++
    od
}

active proctype Q() {
    byte y;
    do
    :: y++
    od
}
