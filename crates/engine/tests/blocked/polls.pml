// q!1
chan q = [1] of { byte };
chan r = [1] of { byte };
active proctype a() { q!1; nfull(q) }
active proctype b() { q?[2] || len(r) > 0 }
active proctype c() { q?[1] && empty(q) }
