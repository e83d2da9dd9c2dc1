/* Leader election in a one-way ring (Chang and Roberts): N nodes, every placement of the N numbers is tried
   (up to rotation). Array of buffered channels, processes end.
   Sizes: small N=5, medium N=6. */
#ifndef N
#define N 5
#endif
#ifndef CAP
#define CAP 2
#endif

mtype = { candidate, elected };
chan ring[N] = [CAP] of { mtype, byte };
byte leaders;

proctype node(byte here, mine) {
  byte other, winner;
  bool passive;
  ring[(here + 1) % N]!candidate, mine;
  do
  :: ring[here]?candidate, other ->
     if
     :: other > mine -> passive = true; ring[(here + 1) % N]!candidate, other
     :: other < mine
     :: other == mine ->
        assert(!passive && mine == N);
        leaders++;
        winner = mine;
        ring[(here + 1) % N]!elected, mine
     fi
  :: ring[here]?elected, other ->
     assert(other == N && leaders == 1);
     if
     :: winner == 0 -> winner = other; ring[(here + 1) % N]!elected, other
     :: else
     fi;
     break
  od
}

init {
  byte here, pick, skipped;
  bool used[N + 1];
  atomic {
    do
    :: here < N ->
       /* the largest number comes first, then any of those that are left */
       skipped = (here == 0 -> N - 1 : 0);
       do
       :: here > 0 && skipped < N - 1 - here -> skipped++
       :: break
       od;
       pick = 1;
       do
       :: used[pick] -> pick++
       :: !used[pick] && skipped > 0 -> pick++; skipped--
       :: !used[pick] && skipped == 0 -> break
       od;
       used[pick] = true;
       run node(here, pick);
       here++
    :: else -> break
    od
  }
}
