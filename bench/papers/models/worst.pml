/* A choice that nothing follows: the case that the Twophase algorithm is worst at, unless dead variables are reset.
   The process is printed in section 2.3 of "Performance Studies of PV" (Gopalakrishnan et al., 2001). */
#ifndef N
#define N 7
#endif

active [N] proctype worst() {
    byte b = 1;
    if
    :: b = 2
    :: b = 3
    fi;
end:
    0
}
