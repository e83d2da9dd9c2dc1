/* expect: rowo1 f
   Split transactions: an operation is sometimes answered twice. */
byte mem[NA];
chan rq[8] = [2] of { byte, byte, byte, byte };
chan an[8] = [2] of { byte, byte };
proctype Ctl(byte me) { byte t, o, a, v; 
end: do :: atomic { rq[me]?t,o,a,v -> if :: o == MEM_WRITE -> mem[a] = v; v = 0 :: else -> v = mem[a] fi; 
   an[me]!t,v; if :: an[me]!t,v :: skip fi; t = 0; o = 0; a = 0; v = 0 } od }
inline mem_start() { byte k; for (k : 0 .. NP-1) { run Ctl(k) } }
inline mem_issue(p, tag, op, a, v) { rq[p]!tag,op,a,v }
inline mem_reply(p, tag, v) { an[p]?tag,v }
