// A jump into the middle of an atomic sequence makes the rest of it atomic.
//@ check: safety
//@ expect: verdict=holds states=17
byte x, y;
active proctype P() {
  if
  :: true -> goto inside
  :: true
  fi;
  atomic {
    x = 1;
inside:
    y++;
    y++
  }
}
active proctype Q() {
  assert(y != 1)
}
