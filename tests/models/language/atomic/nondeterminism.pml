// A choice inside an atomic sequence still has all its outcomes.
//@ check: safety
//@ expect: verdict=violated kind=assertion states=10
byte x;
active proctype P() {
  atomic {
    if
    :: x = 1
    :: x = 2
    :: x = 3
    fi;
    x = x + 10
  };
  assert(x != 13)
}
