// The four questions about the fill of a channel.
//@ check: safety
//@ expect: verdict=holds states=7
chan q = [1] of { bit };
active proctype P() {
  assert(empty(q)); assert(nfull(q));
  q!1;
  assert(full(q)); assert(nempty(q))
}
