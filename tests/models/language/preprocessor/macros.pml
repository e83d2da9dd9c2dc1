// Macros with and without arguments, and conditions.
//@ check: safety
//@ expect: verdict=holds states=10
//@ options: -D N=3
#define LIMIT N
#define below(x) (x < LIMIT)
#define sum(a, b) a + b
#ifdef N
byte x;
#else
byte y;
#endif
#if N > 2
#define STEP 1
#endif
active proctype P() {
  do
  :: below(x) -> x = x + STEP
  :: else -> break
  od;
  assert(x == 3 && sum(1, 2) * 2 == 5)
}
