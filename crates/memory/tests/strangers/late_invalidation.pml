/* expect: upo y, rowo1 n, rowo2 n, po_wr n, progress y
   Write-through caches. Invalidations wait in a queue for each cache, and nobody waits for them; a read looks
   whether its line is valid in one step and takes the value in the next. */
#define IX(p,a) (p*NA+a)
byte mem[NA];
byte data[8*8];
bool valid[8*8];
chan inval[8] = [2] of { byte };
#define mem_quiet (len(inval[0]) == 0 && len(inval[1]) == 0)
inline mem_start() { byte k; for (k : 0 .. NP-1) { run Snoop(k) } }
proctype Snoop(byte me) { byte a;
end: do :: atomic { inval[me]?a -> valid[IX(me,a)] = false; data[IX(me,a)] = 0; a = 0 } od }
inline mem_read(p, a, v) {
  if
  :: valid[IX(p,a)] -> v = data[IX(p,a)]
  :: else -> atomic { data[IX(p,a)] = mem[a]; valid[IX(p,a)] = true; v = data[IX(p,a)] }
  fi
}
inline mem_write(p, a, v) {
  byte i;
  atomic {
    mem[a] = v; data[IX(p,a)] = v; valid[IX(p,a)] = true;
#ifdef ORDER
    ORDER(a, v);
#endif
    i = 0;
    do :: i < NP && i != p -> inval[i]!a; i++ :: i == p -> i++ :: i == NP -> break od;
    i = 0
  }
}
