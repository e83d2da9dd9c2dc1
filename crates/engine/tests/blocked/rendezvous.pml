//
mtype = { hello, bye };
chan c = [0] of { mtype, byte };
active proctype a() { byte x; do :: c?hello(x) od }
active proctype b() { c!bye(300) }
active proctype d() { (1) -> c!hello(1) }
