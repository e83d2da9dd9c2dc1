// A structure in a message is sent field by field.
//@ check: safety
//@ expect: verdict=holds states=7
typedef Point { byte x; short y };
chan q = [1] of { byte, Point };
active proctype P() {
  Point a, b;
  a.x = 3; a.y = -4;
  q!1,a;
  q?1,b;
  assert(b.x == 3 && b.y == -4)
}
