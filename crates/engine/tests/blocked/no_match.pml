// q!data(1); q!data(2)
mtype = { data, ack };
chan q = [2] of { mtype, byte };
active proctype first() { byte want = 7; q!data(1); q!data(2); q?ack(eval(want)) }
active proctype any() { byte n; q??ack(n) }
active proctype taker() { q?data(_) }
