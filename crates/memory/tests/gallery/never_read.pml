byte mem[NA];
bool ready;
inline mem_start() { skip }
inline mem_write(p, a, v) { mem[a] = v }
inline mem_read(p, a, v) { atomic { ready -> v = mem[a] } }
