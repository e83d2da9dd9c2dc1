// Polling a rendezvous channel is a run-time error.
//@ check: safety
//@ expect: verdict=violated kind=runtime
chan q = [0] of { byte };
active proctype P() { q?[1] }
active proctype S() { q!1 }
