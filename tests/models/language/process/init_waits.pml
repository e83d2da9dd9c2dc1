// `_nr_pr` counts the processes; init waits for the others.
//@ check: safety
//@ expect: verdict=holds states=19
byte n;
proctype C() { n++ }
init {
  atomic { run C(); run C(); run C() };
  _nr_pr == 1;
  assert(n == 3)
}
