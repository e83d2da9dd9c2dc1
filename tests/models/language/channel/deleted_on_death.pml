// A channel of a process disappears with it, and its number is used again.
//@ check: safety
//@ expect: verdict=holds states=19
chan hand = [1] of { byte };
proctype C(byte n) { chan own = [1] of { byte }; own!n; own?n; hand!n }
init {
  byte v;
  run C(1); hand?v; (_nr_pr == 1);
  run C(2); hand?v; (_nr_pr == 1);
  assert(v == 2)
}
