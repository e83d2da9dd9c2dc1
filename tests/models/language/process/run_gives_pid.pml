// `run` gives the pid of the new process.
//@ check: safety
//@ expect: verdict=holds states=7
byte seen;
proctype C() { seen = _pid }
init {
  pid p;
  p = run C();
  (_nr_pr == 1);
  assert(seen == p && p == 1)
}
