/* Fork and join: every task starts two children down to DEPTH and adds up what they send back on a channel
   of its own. Processes and channels come and go.
   Sizes: small DEPTH=2 STEPS=1, medium DEPTH=2 STEPS=8. */
#ifndef DEPTH
#define DEPTH 2
#endif
#ifndef STEPS
#define STEPS 1
#endif

proctype task(byte depth; chan up) {
  chan results = [2] of { byte };
  byte a, b, step;
  if
  :: depth > 0 ->
     run task(depth - 1, results);
     run task(depth - 1, results);
     results?a;
     results?b
  :: else ->
     do
     :: step < STEPS -> step++
     :: else -> break
     od;
     a = 1
  fi;
  up!(a + b)
}

init {
  chan answer = [1] of { byte };
  byte leaves;
  run task(DEPTH, answer);
  answer?leaves;
  assert(leaves == 1 << DEPTH)
}
