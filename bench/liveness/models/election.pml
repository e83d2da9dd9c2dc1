/* Leader election on a ring (Chang and Roberts): everybody sends a number round, the largest comes back. The numbers are
   chosen in any order by the processes themselves, so that the ring has many initial orders. */
#ifndef N
#define N 4
#endif
#ifndef CAP
#define CAP 2
#endif
chan ring[N] = [CAP] of { byte };
byte leaders;
bool taken[N];

proctype node(byte me) {
  byte mine, heard;
  atomic {
    select (mine : 0 .. N - 1);
    do
    :: taken[mine] -> mine = (mine + 1) % N
    :: else -> break
    od;
    taken[mine] = true
  }
  ring[(me + 1) % N]!mine;
  do
  :: ring[me]?heard ->
    if
    :: heard > mine -> ring[(me + 1) % N]!heard
    :: heard == mine -> leaders++; break
    :: else
    fi
  od
}

init {
  byte i;
  atomic { for (i : 0 .. N - 1) { run node(i) } }
}

ltl elected { <> [] (leaders == 1) }
ltl one { [] (leaders <= 1) }
