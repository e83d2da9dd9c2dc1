/* Written to see whether the place is reached; it says nothing. */
bit busy;

active proctype p() { busy = 1; assert(1); busy = 0 }
active proctype q() { busy == 1 }
