/* No array has an element -1. */
byte last[4] = 1;

active proctype p() { last[0] = last[-1]; assert(last[0] == 1) }
