byte mem[NA];
inline mem_start() { skip }
inline mem_write(p, a) { mem[a] = p }
inline mem_read(p, a, v) { v = mem[a] }
