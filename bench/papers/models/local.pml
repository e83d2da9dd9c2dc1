/* As basic.pml, and one of the two fails: the failure is local.
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
    :: y++;
       assert(false)
    od
}
