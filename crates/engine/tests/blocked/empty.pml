//
chan q[2] = [1] of { byte };
active [2] proctype reader() { byte x; q[_pid]?x; q[1 - _pid]!x }
