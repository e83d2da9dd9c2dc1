/* Processes that share nothing and always come back to where they began: the case that the Twophase algorithm is best at.
   After the process of Figure 2 in "Performance Studies of PV" (Gopalakrishnan et al., 2001), seven times as in its Figure 4. */
#ifndef N
#define N 7
#endif

active [N] proctype P() {
    do
    :: true -> true
    :: true -> true
    od
}
