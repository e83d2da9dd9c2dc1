// A pid is free again after the youngest process has died.
//@ check: safety
//@ expect: verdict=holds states=13
byte n;
proctype C() { n++; assert(_pid == 1) }
init {
  run C(); (_nr_pr == 1);
  run C(); (_nr_pr == 1);
  assert(n == 2)
}
