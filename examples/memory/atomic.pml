/* Atomic memory: every read and every write takes effect at once. The yardstick: sequentially consistent
   by construction. */
byte mem[NA];

inline mem_start() { skip }
inline mem_read(p, a, v) { v = mem[a] }
inline mem_fence(p) { skip }
inline mem_write(p, a, v) {
	atomic {
		mem[a] = v;
#ifdef ORDER
		ORDER(a, v)
#endif
	}
}
