byte mem[NA];
#define mem_start() skip
inline mem_write(p, a, v) { mem[a] = v }
#define mem_read(p, a, v) v = mem[a]
