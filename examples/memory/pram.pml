/* PRAM (pipelined RAM, Lipton and Sandberg): every processor has its own copy; a write changes the own
   copy and travels to each other copy through a queue of its own. Writes of one processor are seen in their
   order; nobody agrees on more.
   MEM_BOUND: the writes that travel from one copy to another. */
#ifndef MEM_BOUND
#define MEM_BOUND 1
#endif

byte copy[NP * NA];
chan link[NP * NP] = [MEM_BOUND] of { byte, byte };
byte travelling;
hidden byte pram_i;

#define mem_quiet (travelling == 0)
#define link_room(p, q) (NP < (q) + 1 || (p) == (q) || nfull(link[(p) * NP + (NP < (q) + 1 -> 0 : (q))]))
#define links_room(p) (link_room(p, 0) && link_room(p, 1) && link_room(p, 2) && link_room(p, 3))

inline mem_write(p, a, v) {
	d_step {
		links_room(p) -> copy[(p) * NA + (a)] = v; pram_i = 0;
		do
		:: pram_i < NP && pram_i != p -> link[(p) * NP + pram_i]!a,v; travelling++; pram_i++
		:: pram_i < NP && pram_i == p -> pram_i++
		:: pram_i == NP -> break
		od;
		pram_i = 0
	}
}
inline mem_read(p, a, v) { v = copy[(p) * NA + (a)] }

proctype Deliver(byte from; byte to) {
	byte where, what;
end:	do
	:: d_step {
		link[from * NP + to]?where,what -> copy[to * NA + where] = what; travelling--;
		where = 0; what = 0
	   }
	od
}
inline mem_start() {
	byte sender, receiver;
	for (sender : 0 .. NP - 1) {
		for (receiver : 0 .. NP - 1) {
			if :: sender != receiver -> run Deliver(sender, receiver) :: else fi
		}
	}
}
