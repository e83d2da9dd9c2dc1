/* expect: upo y, upo2 y, rowo1 y, rowo2 y, pos y, po_wr n, wa_self n, con n, progress y
   Copies, brought up to date by messages; the own copy at once, the others in the order in which messages come: PRAM. */
#define IX(p,a) (p*NA+a)
byte copy[8*8];
chan up[8] = [2] of { byte, byte };
#define mem_quiet (empty(up[0]) && empty(up[1]))
proctype Port(byte me) { byte a, v; end: do :: atomic { up[me]?a,v -> copy[IX(me,a)] = v; a = 0; v = 0 } od }
inline mem_start() { byte k; for (k : 0 .. NP-1) { run Port(k) } }
inline mem_read(p, a, v) { v = copy[IX(p,a)] }
inline mem_write(p, a, v) { byte i; copy[IX(p,a)] = v; i = 0; do :: i < NP -> if :: i != p -> up[i]!a,v :: else fi; i++ :: else -> break od; i = 0 }
