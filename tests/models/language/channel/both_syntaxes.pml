// `q!a(b,c)` is `q!a,b,c`.
//@ check: safety
//@ expect: verdict=holds states=7
mtype = { msg };
chan q = [2] of { mtype, byte, byte };
active proctype P() {
  byte a, b;
  q!msg(1, 2);
  q?msg,a,b;
  q!msg,3,4;
  q?msg(a, b);
  assert(a == 3 && b == 4)
}
