// Channels that a trace does not name are free.
//@ check: safety
//@ expect: verdict=holds states=5
chan q = [1] of { byte };
chan r = [1] of { byte };
trace { q!_ }
active proctype S() { r!1; q!5; r?1 }
