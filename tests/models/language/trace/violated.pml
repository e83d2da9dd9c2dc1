// An event that does not fit violates the trace.
//@ check: safety
//@ expect: verdict=violated kind=trace
chan q = [2] of { byte };
trace { do :: q!1 -> q!2 od }
active proctype S() { q!1; q!1 }
