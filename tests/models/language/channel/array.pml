// An array of channels has a channel of its own in every element.
//@ check: safety
//@ expect: verdict=holds states=54
chan q[3] = [1] of { pid };
active [3] proctype P() {
  pid other;
  q[_pid]!_pid;
  q[(_pid + 1) % 3]?other;
  assert(other == (_pid + 1) % 3)
}
