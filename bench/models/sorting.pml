/* Sorting by neighbours: N cells hold any values below VALUES, N-1 comparators swap in d_steps until
   nothing moves. Nearly every step is a d_step, and the atomic start has VALUES^N outcomes.
   Sizes: small N=5 VALUES=5, medium N=7 VALUES=6. */
#ifndef N
#define N 5
#endif
#ifndef VALUES
#define VALUES 5
#endif

byte cell[N];
short swaps;

proctype comparator(byte i) {
  byte t;
end:
  do
  :: d_step {
       cell[i] > cell[i + 1] ->
       t = cell[i];
       cell[i] = cell[i + 1];
       cell[i + 1] = t;
       t = 0;
       swaps++;
       assert(swaps <= N * (N - 1) / 2)
     }
  od
}

init {
  byte i, v;
  atomic {
    do
    :: i < N ->
       v = 0;
       do
       :: v < VALUES - 1 -> v++
       :: break
       od;
       cell[i] = v;
       i++
    :: else -> break
    od;
    v = 0;
    i = 0;
    do
    :: i < N - 1 -> run comparator(i); i++
    :: else -> break
    od;
    i = 0
  }
  timeout;
  d_step {
    do
    :: i < N - 1 -> assert(cell[i] <= cell[i + 1]); i++
    :: else -> break
    od
  }
}
