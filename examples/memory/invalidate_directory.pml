/* A directory protocol with invalidations, in the manner of inv (the Utah Avalanche's, of which the PV report
   tells). Each address has a home that knows who has a copy. A read asks the home for a copy; a write asks
   for the only one: the home invalidates all others, waits for their acknowledgements, and grants. A
   modified line is fetched back. Shared copies are dropped silently at any time.

   A mistake can be built in (eager_ack_directory.pml does): with EAGER the home grants a write before the
   invalidations are acknowledged. */
mtype = { GETS, GETX, INVALIDATE, FETCH, FETCH_OUT, DATA_SHARED, DATA_OWNED };
#define INVALID 0
#define SHARED 1
#define OWNED 2
#define line_of(p, a) ((p) * NA + (a))
#define NOBODY NP

byte mem[NA], state[NP * NA], line[NP * NA];
bool asked[NP];                                  /* a request is on its way */
chan to_home[NA] = [NP] of { mtype, byte };      /* request, who */
chan to_node[NP * NA] = [2] of { mtype, byte };  /* what, value */
chan fetched[NA] = [1] of { byte };
chan acked[NA] = [NP] of { bit };

inline mem_read(p, a, v) {
	do
	:: atomic { state[line_of(p, a)] != INVALID -> v = line[line_of(p, a)]; break }
	:: atomic { state[line_of(p, a)] == INVALID && !asked[p] -> asked[p] = true; to_home[a]!GETS,p }
	od
}
inline mem_write(p, a, v) {
	do
	:: atomic {
		state[line_of(p, a)] == OWNED -> line[line_of(p, a)] = v;
#ifdef ORDER
		ORDER(a, v);
#endif
		break
	   }
	:: atomic { state[line_of(p, a)] != OWNED && !asked[p] -> asked[p] = true; to_home[a]!GETX,p }
	od
}
inline mem_fence(p) { skip }

inline drop(l) { state[l] = INVALID; line[l] = 0 }
proctype Node(byte me; byte where) {             /* a line of a cache */
	byte what;
end:	do
	:: atomic { to_node[line_of(me, where)]?DATA_SHARED,what ->
		line[line_of(me, where)] = what; state[line_of(me, where)] = SHARED; asked[me] = false; what = 0 }
	:: atomic { to_node[line_of(me, where)]?DATA_OWNED,what ->
		line[line_of(me, where)] = what; state[line_of(me, where)] = OWNED; asked[me] = false; what = 0 }
	:: atomic { to_node[line_of(me, where)]?INVALIDATE,what ->
		drop(line_of(me, where)); acked[where]!1; what = 0 }
	:: atomic { to_node[line_of(me, where)]?FETCH,what ->
		fetched[where]!line[line_of(me, where)]; state[line_of(me, where)] = SHARED; what = 0 }
	:: atomic { to_node[line_of(me, where)]?FETCH_OUT,what ->
		fetched[where]!line[line_of(me, where)]; drop(line_of(me, where)); what = 0 }
	:: d_step { state[line_of(me, where)] == SHARED -> drop(line_of(me, where)) }
	od
}
proctype Home(byte where) {
	byte owner = NOBODY, who, other, what, missing;
	bool sharer[NP];
end:	do
	:: to_home[where]?GETS,who ->
		if
		:: owner != NOBODY ->
			to_node[line_of(owner, where)]!FETCH,0; fetched[where]?what;
			atomic { mem[where] = what; sharer[owner] = true; owner = NOBODY; what = 0 }
		:: owner == NOBODY
		fi;
		atomic { sharer[who] = true; to_node[line_of(who, where)]!DATA_SHARED,mem[where]; who = 0 }
	:: to_home[where]?GETX,who ->
		if
		:: owner != NOBODY ->
			to_node[line_of(owner, where)]!FETCH_OUT,0; fetched[where]?what;
			atomic { mem[where] = what; owner = NOBODY; what = 0 }
		:: owner == NOBODY
		fi;
		do
		:: other < NP && sharer[other] && other != who ->
			atomic { to_node[line_of(other, where)]!INVALIDATE,0; sharer[other] = false; missing++; other++ }
		:: other < NP && !(sharer[other] && other != who) -> other++
		:: other == NP -> other = 0; break
		od;
#ifdef EAGER
		atomic { sharer[who] = false; owner = who; to_node[line_of(who, where)]!DATA_OWNED,mem[where] };
#endif
		do
		:: atomic { missing > 0 -> acked[where]?1; missing-- }
		:: missing == 0 -> break
		od;
#ifndef EAGER
		atomic { sharer[who] = false; owner = who; to_node[line_of(who, where)]!DATA_OWNED,mem[where] };
#endif
		who = 0
	od
}
inline mem_start() {
	byte started, number;
	for (number : 0 .. NA - 1) {
		run Home(number);
		for (started : 0 .. NP - 1) { run Node(started, number) }
	}
}
