/* Leader election in a one-way ring (Dolev, Klawe and Rodeh): a node stays active only if the number of its left
   neighbour is larger than its own and than the one beyond; the others pass on what comes. N nodes.
   Accept label: the cycle of those that pass on. Every run ends, so no cycle is ever accepted. */
#ifndef N
#define N 5
#endif
#define NUMBER(i) ((i + 2) % N + 1)

mtype = { first, second, winner };
chan ring[N] = [2 * N] of { mtype, byte };
byte leaders;

proctype node(byte here, mine) {
  byte highest = mine, left, n;
  ring[(here + 1) % N]!first, highest;
active_:
  ring[here]?first, left;
  if
  :: left == highest ->
     assert(left == N);
     leaders++;
     assert(leaders == 1);
     ring[(here + 1) % N]!winner, left;
     goto done
  :: else -> ring[(here + 1) % N]!second, left
  fi;
  ring[here]?second, n;
  if
  :: left > n && left > highest ->
     highest = left;
     n = 0;
     ring[(here + 1) % N]!first, highest;
     goto active_
  :: else
  fi;
  n = 0;
accept_passive:
  do
  :: ring[here]?first, n -> ring[(here + 1) % N]!first, n
  :: ring[here]?second, n -> ring[(here + 1) % N]!second, n
  :: ring[here]?winner, n -> break
  od;
  ring[(here + 1) % N]!winner, n;
done:
  skip
}

init {
  byte i;
  atomic {
    do
    :: i < N -> run node(i, NUMBER(i)); i++
    :: else -> break
    od
  }
}
