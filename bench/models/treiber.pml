/* Treiber's lock-free stack: N threads push a node and pop one, ROUNDS times. Compare-and-swap is an atomic
   sequence on a (pointer, tag) pair; the tag defeats the ABA problem. Shared bytes, atomic.
   Sizes: small N=2 ROUNDS=3, medium N=2 ROUNDS=10. */
#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif

byte next[N + 1];    /* node 0 is the null pointer */
byte top;
byte tag;
bool owned[N + 1];   /* ghost: a node is in the hands of one thread or on the stack */

active [N] proctype thread() {
  byte mine = _pid + 1;
  byte round, seen, stamp, below;
  bool done;
  owned[mine] = true;
  do
  :: round < ROUNDS ->
     owned[mine] = false;
     done = false;
     do
     :: !done ->
        d_step { seen = top; stamp = tag }
        next[mine] = seen;
        atomic {
          if
          :: top == seen && tag == stamp -> top = mine; tag++; done = true
          :: else
          fi
        }
     :: else -> break
     od;
     mine = 0;
     do
     :: mine == 0 ->
        d_step { seen = top; stamp = tag }
        assert(seen != 0);    /* everyone has pushed more often than popped */
        below = next[seen];
        atomic {
          if
          :: top == seen && tag == stamp -> top = below; tag++; mine = seen
          :: else
          fi
        }
     :: else -> break
     od;
     assert(!owned[mine]);
     owned[mine] = true;
     round++
  :: else -> break
  od
}
