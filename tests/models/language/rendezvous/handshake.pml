// A rendezvous is one step: no state lies between the send and the receive.
//@ check: safety
//@ expect: verdict=holds states=7
chan q = [0] of { byte };
byte got;
active proctype S() { q!1; q!2 }
active proctype R() { byte v; q?v; got = v; q?v; got = v }
