/* Lamport's bakery: N customers, each served ROUNDS times. Shared bytes; processes end, tickets stay
   bounded.
   Sizes: small N=2 ROUNDS=4, medium N=3 ROUNDS=2, large N=3 ROUNDS=3. */
#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 4
#endif

bool choosing[N];
byte ticket[N];
byte inside;

active [N] proctype customer() {
  byte round, k, highest;
  do
  :: round < ROUNDS ->
     choosing[_pid] = true;
     highest = 0;
     k = 0;
     do
     :: k < N -> highest = (ticket[k] > highest -> ticket[k] : highest); k++
     :: else -> break
     od;
     ticket[_pid] = highest + 1;
     choosing[_pid] = false;
     k = 0;
     do
     :: k < N ->
        !choosing[k];
        (ticket[k] == 0 || ticket[k] > ticket[_pid] || (ticket[k] == ticket[_pid] && k >= _pid));
        k++
     :: else -> break
     od;
     inside++;
     assert(inside == 1);
     inside--;
     ticket[_pid] = 0;
     round++
  :: else -> break
  od
}
