// Polls look without taking, at the first or at any message.
//@ check: safety
//@ expect: verdict=holds states=7
chan q = [3] of { byte, byte };
active proctype P() {
  q!1,2;
  q!3,4;
  assert(q?[1,2] && !q?[3,4]);
  assert(q??[3,4] && !q??[3,5]);
  assert(len(q) == 2)
}
