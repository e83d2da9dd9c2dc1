/* Total store order with a bug: nobody thought of forwarding. A processor that reads what it has just
   written gets the old value while the write still waits in its queue. Test upo refutes it at once.
   MEM_BOUND: the writes that wait in a queue. */
#ifndef MEM_BOUND
#define MEM_BOUND 2
#endif

byte mem[NA];
chan buffer[NP] = [MEM_BOUND] of { byte, byte };     /* address, value */
byte waiting;

#define mem_quiet (waiting == 0)

inline mem_write(p, a, v) {
	atomic { buffer[p]!a,v; waiting++ }
}
inline mem_read(p, a, v) { v = mem[a] }
inline mem_fence(p) { empty(buffer[p]) }

proctype Drain(byte me) {
	byte where, what;
end:	do
	:: atomic {
		buffer[me]?where,what ->
#ifdef ORDER
		ORDER(where, what);
#endif
		mem[where] = what; waiting--;
		where = 0; what = 0
	   }
	od
}
inline mem_start() {
	byte started;
	for (started : 0 .. NP - 1) { run Drain(started) }
}
