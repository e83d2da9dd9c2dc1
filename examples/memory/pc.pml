/* Processor consistency (Goodman): copies fed by one log of writes. A copy may apply a write out of the
   log's order unless one before it comes from the same writer or goes to the same address. So writes of one
   processor are seen in order, all agree about each address, and nothing else is certain.
   MEM_BOUND: writes that wait in front of a copy; ISA2 needs 3 to show. */
#ifndef MEM_BOUND
#define MEM_BOUND 2
#endif

byte copy[NP * NA];
byte qw[NP * MEM_BOUND], qa[NP * MEM_BOUND], qv[NP * MEM_BOUND], ql[NP];  /* queues: writer, address, value; length */
bool pending[NP];                                                        /* the own write is not in the own copy */
hidden byte log_i;

#define log_room (ql[0] < MEM_BOUND && ql[1] < MEM_BOUND && (NP < 3 || ql[(NP < 3 -> 0 : 2)] < MEM_BOUND) && \
	(NP < 4 || ql[(NP < 4 -> 0 : 3)] < MEM_BOUND))
#define mem_quiet (ql[0] == 0 && ql[1] == 0 && (NP < 3 || ql[(NP < 3 -> 0 : 2)] == 0) && \
	(NP < 4 || ql[(NP < 4 -> 0 : 3)] == 0))
#define at(q, i) ((q) * MEM_BOUND + (i))
#define tied(q, i, j) (qw[at(q, i)] == qw[at(q, j)] || qa[at(q, i)] == qa[at(q, j)])

inline mem_write(p, a, v) {
	d_step {
		log_room -> log_i = 0;
		do
		:: log_i < NP ->
			qw[at(log_i, ql[log_i])] = p; qa[at(log_i, ql[log_i])] = a; qv[at(log_i, ql[log_i])] = v;
			ql[log_i]++; log_i++
		:: else -> break
		od;
		log_i = 0; pending[p] = true;
#ifdef ORDER
		ORDER(a, v)
#endif
	}
	!pending[p]
}
inline mem_read(p, a, v) { v = copy[(p) * NA + (a)] }

inline take(q, i) {                              /* apply entry i and close the gap */
	copy[q * NA + qa[at(q, i)]] = qv[at(q, i)];
	if :: qw[at(q, i)] == q -> pending[q] = false :: else fi;
	log_i = i;
	do
	:: log_i + 1 < ql[q] ->
		qw[at(q, log_i)] = qw[at(q, log_i + 1)]; qa[at(q, log_i)] = qa[at(q, log_i + 1)];
		qv[at(q, log_i)] = qv[at(q, log_i + 1)]; log_i++
	:: else -> break
	od;
	qw[at(q, log_i)] = 0; qa[at(q, log_i)] = 0; qv[at(q, log_i)] = 0; ql[q]--; log_i = 0
}
proctype Copy(byte me) {
end:	do
	:: d_step { ql[me] > 0 -> take(me, 0) }
#if MEM_BOUND > 1
	:: d_step { ql[me] > 1 && !tied(me, 0, 1) -> take(me, 1) }
#endif
#if MEM_BOUND > 2
	:: d_step { ql[me] > 2 && !tied(me, 0, 2) && !tied(me, 1, 2) -> take(me, 2) }
#endif
	od
}
inline mem_start() {
	byte started;
	for (started : 0 .. NP - 1) { run Copy(started) }
}
