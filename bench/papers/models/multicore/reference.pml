/* The reference model of Holzmann and Bosnacki (2007, Appendix B): BRANCH processes count to STATES together, so each of the
   STATES + 1 states has BRANCH steps to the same next one; then they end. A step takes 2^DELAY turns of a loop over SIZE bytes that
   are zero between steps; a d_step stands for the paper's C code.
   With -DGRID each process counts for itself: about STATES^BRANCH states, many of which are open at the same time.
   Accept label: the only cycle. Counting ends, so no cycle is accepted. */
#ifndef BRANCH
#define BRANCH 2
#endif
#ifndef SIZE
#define SIZE 10
#endif
#ifndef DELAY
#define DELAY 3
#endif
#ifndef STATES
#define STATES 1000
#endif

#ifdef GRID
int count[BRANCH];
#define COUNT count[_pid]
#else
int count;
#define COUNT count
#endif
byte filler[SIZE];

active [BRANCH] proctype ref() {
  int turn;
accept:
  do
  :: d_step {
       COUNT < STATES ->
       turn = 0;
       do
       :: turn < (1 << DELAY) ->
          filler[turn % SIZE] = filler[turn % SIZE] + turn % 256;
          turn++
       :: else -> break
       od;
       turn = 0;
       do
       :: turn < SIZE && turn < (1 << DELAY) -> filler[turn] = 0; turn++
       :: else -> break
       od;
       turn = 0;
       COUNT++
     }
  :: COUNT == STATES -> break
  od
}
