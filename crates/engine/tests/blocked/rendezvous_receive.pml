//
chan c = [0] of { byte };
active proctype a() { c?1 }
active proctype b() { byte x = 1; do :: c?x; c!2 od }
