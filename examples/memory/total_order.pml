/* Copies fed by one log of writes (total-order broadcast). A write is appended to the queue of every copy
   at once, which fixes its place in the log, and returns when the writer's own copy has it; reads are local.
   Attiya and Welch showed that slow writes and fast reads make this sequentially consistent, although
   copies lag behind each other. MEM_BOUND: writes that wait in front of a copy. */
#ifndef MEM_BOUND
#define MEM_BOUND 2
#endif

byte copy[NP * NA];
chan queue[NP] = [MEM_BOUND] of { byte, byte, byte };    /* writer, address, value */
bool pending[NP];                                        /* the own write is not in the own copy yet */
byte flying;                                             /* entries in all queues */
hidden byte log_i;

#define mem_quiet (flying == 0)
#define log_room (nfull(queue[0]) && nfull(queue[1]) && (NP < 3 || nfull(queue[(NP < 3 -> 0 : 2)])) && \
	(NP < 4 || nfull(queue[(NP < 4 -> 0 : 3)])))

inline mem_write(p, a, v) {
	d_step {
		log_room -> log_i = 0;
		do
		:: log_i < NP -> queue[log_i]!p,a,v; log_i++
		:: else -> break
		od;
		log_i = 0; flying = flying + NP; pending[p] = true;
#ifdef ORDER
		ORDER(a, v)
#endif
	}
	!pending[p]
}
inline mem_read(p, a, v) { v = copy[(p) * NA + (a)] }
inline mem_fence(p) { !pending[p] }

proctype Copy(byte me) {
	byte who, where, what;
end:	do
	:: d_step {
		queue[me]?who,where,what -> copy[me * NA + where] = what; flying--;
		if :: who == me -> pending[me] = false :: else fi;
		who = 0; where = 0; what = 0
	   }
	od
}
inline mem_start() {
	byte started;
	for (started : 0 .. NP - 1) { run Copy(started) }
}
