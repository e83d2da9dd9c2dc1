/* Partial store order (SPARC PSO): a queue of writes per processor and address in front of one memory, so
   that writes to different addresses overtake each other. Message passing needs a fence.
   MEM_BOUND: the writes that wait in a queue. */
#ifndef MEM_BOUND
#define MEM_BOUND 2
#endif

byte mem[NA];
chan buffer[NP * NA] = [MEM_BOUND] of { byte };
byte young[NP * NA], unfinished[NP], waiting;

#define mem_quiet (waiting == 0)

inline mem_write(p, a, v) {
	atomic { buffer[(p) * NA + (a)]!v; young[(p) * NA + (a)] = v; waiting++; unfinished[p]++ }
}
inline mem_read(p, a, v) {
	d_step {
		if
		:: nempty(buffer[(p) * NA + (a)]) -> v = young[(p) * NA + (a)]
		:: empty(buffer[(p) * NA + (a)]) -> v = mem[a]
		fi
	}
}
inline mem_fence(p) { unfinished[p] == 0 }

proctype Drain(byte me; byte where) {
	byte what;
end:	do
	:: atomic {
		buffer[me * NA + where]?what ->
#ifdef ORDER
		ORDER(where, what);
#endif
		mem[where] = what; waiting--; unfinished[me]--;
		if
		:: empty(buffer[me * NA + where]) -> young[me * NA + where] = 0
		:: nempty(buffer[me * NA + where])
		fi;
		what = 0
	   }
	od
}
inline mem_start() {
	byte started, line;
	for (started : 0 .. NP - 1) { for (line : 0 .. NA - 1) { run Drain(started, line) } }
}
