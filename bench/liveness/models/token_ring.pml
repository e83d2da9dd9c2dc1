/* A token goes round; who has a request when it comes uses it. Nothing happens without the token, so every request is served. */
#ifndef N
#define N 6
#endif
#ifndef WORK
#define WORK 3
#endif
chan link[N] = [1] of { byte };
bool wants[N], serves[N];

active [N] proctype station() {
  byte hops, left;
  do
  :: link[_pid]?hops ->
    if
    :: wants[_pid] ->
      serves[_pid] = true;
      left = WORK;
      do
      :: left > 0 -> left--
      :: else -> break
      od;
      atomic { serves[_pid] = false; wants[_pid] = false }
    :: !wants[_pid]
    fi;
    if
    :: wants[(_pid + 1) % N] = true
    :: wants[(_pid + N - 1) % N] = true
    :: skip
    fi;
    link[(_pid + 1) % N]!((hops + 1) % 7)
  od
}

init { link[0]!0 }

ltl served { [] (wants[1] -> <> serves[1]) }
ltl again { [] <> serves[1] }
