// q!data(1); q!data(2)
mtype = { data, ack };
chan q = [2] of { mtype, byte };
active proctype sender() { q!data(1); q!data(2); q!data(3) }
active proctype receiver() { byte n; q?data(n); q?data(n) }
active proctype other() { (0) }
