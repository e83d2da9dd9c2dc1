/* Lazy caching (Afek, Brown and Merritt, 1993). A write waits in the writer's out-queue; when it reaches
   memory it is put into everybody's in-queue, marked in the writer's own. Caches are filled and updated from
   the in-queues, and emptied at will. A read waits until the own out-queue is empty and no marked entry waits,
   then reads the cache, which may be stale: sequentially consistent all the same.
   MEM_BOUND: entries of an in-queue; out-queues have one. */
#ifndef MEM_BOUND
#define MEM_BOUND 2
#endif

byte mem[NA], cached[NP * NA];
bool valid[NP * NA];
chan out[NP] = [1] of { byte, byte };
chan inq[NP] = [MEM_BOUND] of { byte, byte, bool };
byte marked[NP];
hidden byte lazy_i;

#define out_is_empty(p) (empty(out[p]))
#define quiet_at(p) (empty(out[p]) && empty(inq[p]))
#define mem_quiet (quiet_at(0) && quiet_at(1) && (NP < 3 || quiet_at((NP < 3 -> 0 : 2))) && \
	(NP < 4 || quiet_at((NP < 4 -> 0 : 3))))
#define in_room (nfull(inq[0]) && nfull(inq[1]) && (NP < 3 || nfull(inq[(NP < 3 -> 0 : 2)])) && \
	(NP < 4 || nfull(inq[(NP < 4 -> 0 : 3)])))

inline mem_write(p, a, v) { out[p]!a,v }
inline mem_read(p, a, v) {
	d_step { out_is_empty(p) && marked[p] == 0 && valid[(p) * NA + (a)] -> v = cached[(p) * NA + (a)] }
}
inline mem_fence(p) { out_is_empty(p) && marked[p] == 0 }

proctype Cache(byte me; byte where) {            /* one line: filled from memory, emptied at will */
end:	do
	:: d_step { nfull(inq[me]) && !valid[me * NA + where] -> inq[me]!where,mem[where],false }
	:: d_step { valid[me * NA + where] -> valid[me * NA + where] = false; cached[me * NA + where] = 0 }
	od
}
proctype Control(byte me) {
	byte where, what; bool own;
end:	do
	:: d_step {
		nempty(out[me]) && in_room -> out[me]?where,what; mem[where] = what;
#ifdef ORDER
		ORDER(where, what);
#endif
		lazy_i = 0;
		do
		:: lazy_i < NP -> inq[lazy_i]!where,what,(lazy_i == me); lazy_i++
		:: else -> break
		od;
		marked[me]++; lazy_i = 0; where = 0; what = 0
	   }
	:: d_step {
		inq[me]?where,what,own -> cached[me * NA + where] = what; valid[me * NA + where] = true;
		if :: own -> marked[me]-- :: else fi;
		where = 0; what = 0; own = false
	   }
	od
}
inline mem_start() {
	byte started, line;
	for (started : 0 .. NP - 1) {
		run Control(started);
		for (line : 0 .. NA - 1) { run Cache(started, line) }
	}
}
