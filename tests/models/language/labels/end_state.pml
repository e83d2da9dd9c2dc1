// A process may rest at an end label.
//@ check: safety
//@ expect: verdict=holds states=4
chan q = [0] of { byte };
active proctype Server() {
end:
  do
  :: q?_
  od
}
active proctype Client() { q!1; q!2 }
