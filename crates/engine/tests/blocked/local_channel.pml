// pass!mine; pass?c
chan pass = [1] of { chan };
active proctype owner() { chan mine = [1] of { byte }; byte x; pass!mine; mine?x }
active proctype user() { chan c; byte y; pass?c; y == 1 -> c!1 }
