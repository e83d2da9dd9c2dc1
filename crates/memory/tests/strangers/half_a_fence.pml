/* expect: upo n, rowo2 y, fence_wr n, fence_ww y, progress y
   A queue of two writes in front of memory, without forwarding; the fence waits until there is room in it, and not
   until it is empty. */
byte mem[NA];
chan q[8] = [2] of { byte, byte };
#define mem_quiet (empty(q[0]) && empty(q[1]))
proctype D(byte me) { byte a, v; end: do :: atomic { q[me]?a,v -> mem[a] = v; a = 0; v = 0 } od }
inline mem_start() { byte k; for (k : 0 .. NP-1) { run D(k) } }
inline mem_read(p, a, v) { v = mem[a] }
inline mem_write(p, a, v) { q[p]!a,v }
inline mem_fence(p) { len(q[p]) < 2 }
