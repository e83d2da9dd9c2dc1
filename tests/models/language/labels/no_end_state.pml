// Without an end label it is an invalid end state.
//@ check: safety
//@ expect: verdict=violated kind=end-state states=3
chan q = [0] of { byte };
active proctype Server() {
  do
  :: q?_
  od
}
active proctype Client() { q!1 }
