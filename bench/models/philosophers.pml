/* Dining philosophers with forks that are processes: taking and putting back are rendezvous. The last
   philosopher takes the forks in the other order, so there is no deadlock. The number of states is 3^N + 1.
   Sizes: small N=9, medium N=13, large N=15, huge N=17. */
#ifndef N
#define N 9
#endif

mtype = { take, put };
chan fork[N] = [0] of { mtype };

proctype holder(byte i) {
end:
  do
  :: fork[i]?take; fork[i]?put
  od
}

proctype philosopher(byte first, second) {
end:
  do
  :: fork[first]!take;
     fork[second]!take;
     fork[first]!put;
     fork[second]!put
  od
}

init {
  byte i;
  atomic {
    do
    :: i < N -> run holder(i); i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < N - 1 -> run philosopher(i, i + 1); i++
    :: else -> break
    od;
    run philosopher(0, N - 1)
  }
}
