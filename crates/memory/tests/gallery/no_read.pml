byte mem[NA];
inline mem_start() { skip }
inline mem_write(p, a, v) { mem[a] = v }
