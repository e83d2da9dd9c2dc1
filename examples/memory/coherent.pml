/* Coherence and nothing more: a write waits in a queue of its processor and address, then gets its place
   among the writes to that address, then reaches every copy in that order, address by address. A processor
   reads its own youngest waiting write. Each address on its own looks like one memory; two together do not.
   MEM_BOUND: placed writes that wait in front of a copy; own queues have one. */
#ifndef MEM_BOUND
#define MEM_BOUND 2
#endif

byte copy[NP * NA], young[NP * NA], held[NP * NA], flying;
chan own[NP * NA] = [1] of { byte };
chan placed[NP * NA] = [MEM_BOUND] of { byte, byte };    /* writer, value */
hidden byte coh_i;

#define mem_quiet (flying == 0)
#define room_at(q, a) (NP < (q) + 1 || nfull(placed[(NP < (q) + 1 -> 0 : (q)) * NA + (a)]))
#define place_room(a) (room_at(0, a) && room_at(1, a) && room_at(2, a) && room_at(3, a))

inline mem_write(p, a, v) {
	atomic {
		own[(p) * NA + (a)]!v; young[(p) * NA + (a)] = v; held[(p) * NA + (a)]++; flying = flying + NP
	}
}
inline mem_read(p, a, v) {
	d_step {
		if
		:: held[(p) * NA + (a)] > 0 -> v = young[(p) * NA + (a)]
		:: else -> v = copy[(p) * NA + (a)]
		fi
	}
}
proctype Place(byte me; byte where) {
	byte what;
end:	do
	:: d_step {
		nempty(own[me * NA + where]) && place_room(where) -> own[me * NA + where]?what;
#ifdef ORDER
		ORDER(where, what);
#endif
		coh_i = 0;
		do
		:: coh_i < NP -> placed[coh_i * NA + where]!me,what; coh_i++
		:: else -> break
		od;
		what = 0; coh_i = 0
	   }
	od
}
proctype Apply(byte me; byte where) {
	byte who, what;
end:	do
	:: d_step {
		placed[me * NA + where]?who,what -> copy[me * NA + where] = what; flying--;
		if
		:: who == me ->
			held[me * NA + where]--;
			if :: held[me * NA + where] == 0 -> young[me * NA + where] = 0 :: else fi
		:: else
		fi;
		who = 0; what = 0
	   }
	od
}
inline mem_start() {
	byte started, line;
	for (started : 0 .. NP - 1) {
		for (line : 0 .. NA - 1) { run Place(started, line); run Apply(started, line) }
	}
}
