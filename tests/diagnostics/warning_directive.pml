#ifndef N
#warning N is not given: 2 is taken
#define N 2
#endif
active [N] proctype p() { skip }
