// Every send and receive on a traced channel must fit.
//@ check: safety
//@ expect: verdict=holds states=7
chan q = [1] of { byte };
trace { do :: q!1 -> q?1 :: q!2 -> q?2 od }
active proctype S() { q!1; q!2 }
active proctype R() { byte v; q?v; q?v }
