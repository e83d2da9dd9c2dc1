// A d_step takes the first executable option: the choice is deterministic.
//@ check: safety
//@ expect: verdict=holds states=4
byte x;
active proctype P() {
  d_step {
    if
    :: true -> x = 1
    :: true -> x = 2
    fi
  };
  assert(x == 1)
}
