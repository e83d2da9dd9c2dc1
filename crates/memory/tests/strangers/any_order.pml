/* expect: upo y, upo2 y, rowo1 y, rowo2 y, po_wr y, con y, progress y
   Split transactions: done in the order of issue, answered in any order. */
byte mem[NA];
chan rq[8] = [1] of { byte, byte, byte, byte };
chan an[8] = [2] of { byte, byte };
proctype Ctl(byte me) { byte t, o, a, v;
end: do :: atomic { rq[me]?t,o,a,v -> if :: o == MEM_WRITE -> mem[a] = v; v = 0 :: else -> v = mem[a] fi; 
   an[me]!t,v; t = 0; o = 0; a = 0; v = 0 } od }
inline mem_start() { byte k; for (k : 0 .. NP-1) { run Ctl(k) } }
inline mem_issue(p, tag, op, a, v) { rq[p]!tag,op,a,v }
inline mem_reply(p, tag, v) { if :: an[p]?tag,v :: atomic { len(an[p]) == 2 -> an[p]?tag,v; an[p]!tag,v; an[p]?tag,v } fi }
