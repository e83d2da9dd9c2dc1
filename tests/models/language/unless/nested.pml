// Of nested escapes that can both run, only the outer one does.
//@ check: safety
//@ expect: verdict=holds states=6
byte x;
active proctype P() {
  {
    { x++; x++; x++ } unless { x == 1 -> x = 20 }
  } unless { x == 1 -> x = 30 };
  assert(x == 30)
}
