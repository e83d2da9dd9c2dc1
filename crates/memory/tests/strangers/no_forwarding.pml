/* expect: upo n, upo2 n, rowo1 y, rowo2 y, pos n, po_wr n, wa_self y, con n, fence_wr y, fence_ww y, order y, sc2 n, progress y
   A write buffer of one entry; reads go past it, also those of what it holds. */
byte mem[NA]; bool held[8]; byte ba[8], bv[8];
#define mem_quiet (!held[0] && !held[1] && !held[2] && !held[3])
proctype Buf(byte me) {
end: do :: atomic { held[me] -> mem[ba[me]] = bv[me]; 
#ifdef ORDER
  ORDER(ba[me], bv[me]);
#endif
  held[me] = false; ba[me] = 0; bv[me] = 0 } od }
inline mem_start() { byte k; for (k : 0 .. NP-1) { run Buf(k) } }
inline mem_read(p, a, v) { v = mem[a] }
inline mem_write(p, a, v) { atomic { !held[p] -> ba[p] = a; bv[p] = v; held[p] = true } }
inline mem_fence(p) { !held[p] }
