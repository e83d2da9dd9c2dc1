// A hidden variable is not part of the state.
//@ check: safety
//@ expect: verdict=holds states=4
hidden byte h;
byte x;
active proctype P() {
  if
  :: h = 1
  :: h = 2
  :: h = 3
  fi;
  x = 1
}
