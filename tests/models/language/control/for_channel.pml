// `for` over a channel of structures visits every message and keeps them.
//@ check: safety
//@ expect: verdict=holds states=19
typedef T { byte v };
chan q = [3] of { T };
active proctype P() {
  T t; byte sum;
  t.v = 1; q!t; t.v = 2; q!t;
  for (t in q) { sum = sum + t.v }
  assert(sum == 3 && len(q) == 2)
}
