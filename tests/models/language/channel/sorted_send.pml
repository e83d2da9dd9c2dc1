// `!!` keeps messages in numerical order of their fields.
//@ check: safety
//@ expect: verdict=holds states=14
chan q = [4] of { byte, byte };
active proctype P() {
  byte a, b;
  q!!3,1; q!!1,9; q!!2,5; q!!1,4;
  q?a,b; assert(a == 1 && b == 4);
  q?a,b; assert(a == 1 && b == 9);
  q?a,b; assert(a == 2);
  q?a,b; assert(a == 3)
}
