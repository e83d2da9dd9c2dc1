/* MESI: write-back caches on a snooping bus whose cycles are atomic, one word a line. A cache line is Invalid,
   Shared, Exclusive or Modified; a bus cycle looks into all caches at once, so the system is sequentially
   consistent. Lines are evicted at any time.

   Three mistakes can be built in (mesi_lost.pml, mesi_late.pml and write_back_race.pml do):
     MESI_LOST    an upgrade from Shared forgets to invalidate the other caches
     MESI_LATE    invalidations are acknowledged at once and applied later, as queues of invalidations do
     MESI_BUFFER  an evicted line waits in a write-back buffer, and nobody snoops there
   The first two pass the classic litmus tests: from a cold start nothing is cached yet. */
#define INVALID 0
#define SHARED 1
#define EXCLUSIVE 2
#define MODIFIED 3
#define line_of(p, a) ((p) * NA + (a))

byte mem[NA], state[NP * NA], line[NP * NA];
#ifdef MESI_LATE
bool doomed[NP * NA];                            /* an invalidation waits */
#define is_doomed(l) doomed[l]
#else
#define is_doomed(l) false
#endif
#ifdef MESI_BUFFER
byte buffered[NP * NA];
bool leaving[NP * NA];                           /* a line waits in the write-back buffer */
#endif
hidden byte bus_i, bus_found;

inline give_up(l) { state[l] = INVALID; line[l] = 0 }
inline write_back(l, a) {                        /* memory gets what a snooped cache has changed */
	if :: state[l] == MODIFIED -> mem[a] = line[l] :: else fi
}
inline bus_read(p, a) {                          /* a bus cycle: inside d_step only */
	bus_i = 0; bus_found = 0;
	do
	:: bus_i == NP -> break
	:: bus_i < NP && bus_i != p && state[line_of(bus_i, a)] != INVALID && !is_doomed(line_of(bus_i, a)) ->
		write_back(line_of(bus_i, a), a);
		state[line_of(bus_i, a)] = SHARED; bus_found = 1; bus_i++
	:: else -> bus_i++
	od;
	line[line_of(p, a)] = mem[a]; state[line_of(p, a)] = (bus_found -> SHARED : EXCLUSIVE);
	bus_i = 0; bus_found = 0
}
inline bus_own(p, a) {                           /* a bus cycle that invalidates the others */
	bus_i = 0;
	do
	:: bus_i == NP -> break
	:: bus_i < NP && bus_i != p && state[line_of(bus_i, a)] != INVALID ->
		write_back(line_of(bus_i, a), a);
#ifdef MESI_LOST
		if
		:: state[line_of(p, a)] == SHARED -> skip
		:: state[line_of(p, a)] != SHARED -> give_up(line_of(bus_i, a))
		fi;
#else
#ifdef MESI_LATE
		if
		:: state[line_of(bus_i, a)] == SHARED -> doomed[line_of(bus_i, a)] = true
		:: state[line_of(bus_i, a)] != SHARED -> give_up(line_of(bus_i, a))
		fi;
#else
		give_up(line_of(bus_i, a));
#endif
#endif
		bus_i++
	:: else -> bus_i++
	od;
	bus_i = 0
}

inline mem_write(p, a, v) {
	d_step {
#ifdef MESI_LATE
		if                               /* an invalidation of the own line goes first */
		:: doomed[line_of(p, a)] -> doomed[line_of(p, a)] = false; give_up(line_of(p, a))
		:: else
		fi;
#endif
		if :: state[line_of(p, a)] < EXCLUSIVE -> bus_own(p, a) :: else fi;
#ifdef ORDER
		ORDER(a, v);
#endif
		state[line_of(p, a)] = MODIFIED; line[line_of(p, a)] = v
	}
}
inline mem_read(p, a, v) {
	do
	:: d_step { state[line_of(p, a)] == INVALID -> bus_read(p, a) }
	:: atomic { state[line_of(p, a)] != INVALID -> v = line[line_of(p, a)]; break }
	od
}
inline mem_fence(p) {
#ifdef MESI_LATE
	d_step {
		bus_i = 0;
		do
		:: bus_i < NA && doomed[line_of(p, bus_i)] ->
			doomed[line_of(p, bus_i)] = false; give_up(line_of(p, bus_i)); bus_i++
		:: bus_i < NA && !doomed[line_of(p, bus_i)] -> bus_i++
		:: bus_i == NA -> break
		od;
		bus_i = 0
	}
#else
	skip
#endif
}

proctype Line(byte me; byte where) {             /* what a cache does on its own account */
end:	do
#ifdef MESI_BUFFER
	:: d_step {
		state[line_of(me, where)] != INVALID && !leaving[line_of(me, where)] ->
		if
		:: state[line_of(me, where)] == MODIFIED ->
			buffered[line_of(me, where)] = line[line_of(me, where)]; leaving[line_of(me, where)] = true
		:: else
		fi;
		give_up(line_of(me, where))
	   }
	:: d_step {
		leaving[line_of(me, where)] -> mem[where] = buffered[line_of(me, where)];
		buffered[line_of(me, where)] = 0; leaving[line_of(me, where)] = false
	   }
#else
	:: d_step {
		state[line_of(me, where)] != INVALID -> write_back(line_of(me, where), where);
		give_up(line_of(me, where));
#ifdef MESI_LATE
		doomed[line_of(me, where)] = false
#endif
	   }
#endif
	od
}
inline mem_start() {
	byte started, number;
	for (started : 0 .. NP - 1) { for (number : 0 .. NA - 1) { run Line(started, number) } }
}
