// A notrace is violated when its events can all happen in order.
//@ check: safety
//@ expect: verdict=violated kind=trace
chan q = [2] of { byte };
notrace { q!1; q!2 }
active proctype S() { if :: q!1 :: q!2 fi; q!2 }
