/* Once P1 has written, nobody gives the bus back to P0. */
byte mem[NA];
bool taken;
inline mem_start() { skip }
inline mem_write(p, a, v) { d_step { !(p == 0 && taken) -> mem[a] = v; if :: p == 1 -> taken = true :: else fi } }
inline mem_read(p, a, v) { d_step { !(p == 0 && taken) -> v = mem[a] } }
