// `??` takes the oldest message that matches.
//@ check: safety
//@ expect: verdict=holds states=12
chan q = [4] of { byte, byte };
active proctype P() {
  byte v;
  q!1,10; q!2,20; q!1,11; q!2,21;
  q??2,v; assert(v == 20);
  q??eval(v / 20 + 1),v; assert(v == 21);
  q?1,v; assert(v == 10)
}
