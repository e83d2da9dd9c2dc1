/* A pipeline that sorts what flows through it: every stage keeps the largest number that it has seen.
   The classic exercise that SpinS's Table 3 calls sort. */
#ifndef N
#define N 6
#endif

chan to_stage[N + 1] = [2] of { byte };

proctype source(chan out) {
    byte i;
    xs out;
    do
    :: i < N ->
       out!((i * 5 + 3) % 7 + 1);
       i++
    :: else -> break
    od
}

proctype stage(byte left; chan in, out) {
    byte mine, other;
    xr in;
    xs out;
    in?mine;
    do
    :: left > 0 ->
       in?other;
       if
       :: other > mine ->
          out!mine;
          mine = other
       :: else -> out!other
       fi;
       other = 0;
       left--
    :: else -> break
    od;
    assert(len(in) == 0)
}

init {
    byte i;
    atomic {
        run source(to_stage[0]);
        do
        :: i < N ->
           run stage(N - i - 1, to_stage[i], to_stage[i + 1]);
           i++
        :: else -> break
        od
    }
}
