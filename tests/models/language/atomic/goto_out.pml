// Leaving an atomic sequence by goto ends its exclusiveness.
//@ check: safety
//@ expect: verdict=holds states=18
byte x;
active proctype P() {
  atomic {
    x = 1;
    if
    :: x == 1 -> goto out
    :: x == 2
    fi;
    x = 9
  };
out:
  x++
}
active proctype Q() {
  x = 5
}
