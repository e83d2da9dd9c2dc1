/* expect: upo y, upo2 y, rowo1 y, rowo2 y, pos y, po_wr y, po_rw y, wa_self y, con y, order y, sc2 y, progress y, service y
   Write-through caches that are invalidated in the step of the write: sequentially consistent. */
#define IX(p,a) (p*NA+a)
byte mem[NA]; byte data[8*8]; bool valid[8*8];
inline mem_start() { skip }
inline mem_read(p, a, v) {
  atomic { if
  :: valid[IX(p,a)] -> v = data[IX(p,a)]
  :: else -> data[IX(p,a)] = mem[a]; valid[IX(p,a)] = true; v = data[IX(p,a)]
  fi }
}
inline mem_write(p, a, v) {
  byte i;
  d_step {
    mem[a] = v; data[IX(p,a)] = v; valid[IX(p,a)] = true;
#ifdef ORDER
    ORDER(a, v);
#endif
    i = 0;
    do :: i < NP && i != p -> valid[IX(i,a)] = false; data[IX(i,a)] = 0; i++ :: i == p -> i++ :: i == NP -> break od;
    i = 0
  }
}
