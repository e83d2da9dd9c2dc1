/* Total store order (SPARC TSO, x86): a queue of writes per processor in front of one memory. A read takes
   the own youngest write to the address that still waits, else memory; a fence waits until the own queue is
   empty. SB, R, n6 and RWC show; message passing is safe.
   MEM_BOUND: the writes that wait in a queue. */
#ifndef MEM_BOUND
#define MEM_BOUND 2
#endif

byte mem[NA];
chan buffer[NP] = [MEM_BOUND] of { byte, byte };     /* address, value */
byte held[NP * NA], young[NP * NA];                  /* waiting writes, and the youngest of them */
byte waiting;

#define mem_quiet (waiting == 0)

inline mem_write(p, a, v) {
	atomic { buffer[p]!a,v; held[(p) * NA + (a)]++; young[(p) * NA + (a)] = v; waiting++ }
}
inline mem_read(p, a, v) {
	d_step {
		if
		:: held[(p) * NA + (a)] > 0 -> v = young[(p) * NA + (a)]
		:: else -> v = mem[a]
		fi
	}
}
inline mem_fence(p) { empty(buffer[p]) }

proctype Drain(byte me) {
	byte where, what;
end:	do
	:: atomic {
		buffer[me]?where,what ->
#ifdef ORDER
		ORDER(where, what);
#endif
		mem[where] = what; waiting--; held[me * NA + where]--;
		if :: held[me * NA + where] == 0 -> young[me * NA + where] = 0 :: else fi;
		where = 0; what = 0
	   }
	od
}
inline mem_start() {
	byte started;
	for (started : 0 .. NP - 1) { run Drain(started) }
}
