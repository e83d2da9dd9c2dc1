// `timeout` as one of several guards.
//@ check: safety
//@ expect: verdict=holds states=10
chan q = [1] of { byte };
byte lost;
active proctype S() {
  if
  :: q!1
  :: skip
  fi
}
active proctype R() {
  do
  :: q?1 -> break
  :: timeout -> lost++; break
  od
}
