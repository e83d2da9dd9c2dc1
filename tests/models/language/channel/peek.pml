// `?<…>` copies the message and leaves it.
//@ check: safety
//@ expect: verdict=holds states=10
chan q = [2] of { byte };
active proctype P() {
  byte v;
  q!5; q!6;
  q?<v>;
  assert(v == 5 && len(q) == 2);
  q??<6>;
  q?v; q?v;
  assert(v == 6 && empty(q))
}
