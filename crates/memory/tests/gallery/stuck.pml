byte mem[NA];
bool taken;
inline mem_start() { skip }
inline mem_write(p, a, v) { atomic { !taken -> taken = true; mem[a] = v } }
inline mem_read(p, a, v) { atomic { !taken -> taken = true; v = mem[a] } }
