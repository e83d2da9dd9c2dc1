/* A pool that starts workers while there are jobs: at most LIVE at a time, JOBS in all. A worker takes time
   and ends; process numbers are used again.
   Sizes: small LIVE=3 JOBS=4, medium LIVE=4 JOBS=7. */
#ifndef LIVE
#define LIVE 3
#endif
#ifndef JOBS
#define JOBS 4
#endif
#ifndef WORK
#define WORK 3
#endif

byte alive, done;

proctype worker(byte job) {
  byte w;
  do
  :: w < WORK -> w++
  :: w > job % 2 -> break
  od;
  atomic { done++; alive-- }
}

active proctype pool() {
  byte job;
  do
  :: job < JOBS -> atomic { alive < LIVE && _nr_pr <= LIVE -> alive++; run worker(job) }; job++
  :: job == JOBS -> break
  od;
  (_nr_pr == 1);
  assert(done == JOBS && alive == 0)
}
