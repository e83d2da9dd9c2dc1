/* None of the channels is ever written to. */
chan inbox[2] = [1] of { byte };

active [2] proctype node() { inbox[_pid]?_ }
