// `eval` matches a value, `_` takes anything.
//@ check: safety
//@ expect: verdict=holds states=6
chan q = [2] of { byte, byte };
active proctype P() {
  byte want = 2, got;
  q!1,5;
  if
  :: q?eval(want),got -> assert(false)
  :: else -> q?_,got
  fi;
  assert(got == 5 && want == 2)
}
