// A message that is one bit is kept as a byte; in longer messages bits are bits.
//@ check: safety
//@ expect: verdict=holds states=8
chan one = [1] of { bit };
chan two = [1] of { bit, byte };
active proctype P() {
  byte v;
  one!6; one?v; assert(v == 6);
  two!6,0; two?v,_; assert(v == 0)
}
