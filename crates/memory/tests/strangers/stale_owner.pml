/* expect: upo y, upo2 n, rowo2 y, pos n, order y, sc2 n, progress y
   Reads are forwarded to the owner of the line. Who is not the owner writes to memory, and nobody tells the owner, who
   goes on answering with what it has. */
#define IX(p,a) (p*NA+a)
#define NONE 9
byte mem[NA]; byte owner[NA] = NONE; byte copy[8*8]; bool mod[8*8];
inline mem_start() { byte k, b; for (k : 0 .. NP-1) { for (b : 0 .. NA-1) { run Evict(k, b) } } }
proctype Evict(byte me; byte a) {
end: do :: atomic { mod[IX(me,a)] -> mem[a] = copy[IX(me,a)]; mod[IX(me,a)] = false } od }
inline mem_read(p, a, v) {
  atomic { if
  :: owner[a] != NONE -> v = copy[IX(owner[a],a)]
  :: else -> v = mem[a]
  fi }
}
inline mem_write(p, a, v) {
  atomic {
    if
    :: mod[IX(p,a)] || owner[a] == p || owner[a] == NONE -> owner[a] = p; copy[IX(p,a)] = v; mod[IX(p,a)] = true
    :: else -> /* somebody else owns it: write through to memory, and forget to tell the owner */
       mem[a] = v
    fi;
#ifdef ORDER
    ORDER(a, v)
#else
    skip
#endif
  }
}
