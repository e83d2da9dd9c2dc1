/* As local.pml, and the variable of the failing process is global: it has no phase 1.
   Figure 5 of "Performance Studies of PV" (Gopalakrishnan et al., 2001). */
byte y;

active proctype P() {
    byte x;
    do
    :: x++
    od
}

active proctype Q() {
    do
    :: y++;
       assert(false)
    od
}
