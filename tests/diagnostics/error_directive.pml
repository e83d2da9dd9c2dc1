#ifndef N
#error give the number of processes with -DN=3
#endif
active [N] proctype p() { skip }
