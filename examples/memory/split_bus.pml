/* A split-transaction bus, in the manner of rowo-1 (a highly simplified Runway bus, of which the PV report
   tells). Processors issue operations without waiting for answers. Requests go on the bus in the order of
   issue; whoever gets the bus has a place in the order of all operations. Memory has a bank for each address,
   with a queue; banks work at their own pace, so that answers come in any order. What was asked for on the bus
   first is done first in each bank: sequentially consistent, if program order is the order of issue.

   A mistake can be built in (split_bus_hasty.pml does): with HASTY reads have a lane of their own to the bus,
   and overtake writes. One request fits in front of the bus, and one in front of a bank. */
byte mem[NA];
chan request[NP] = [1] of { byte, bit, byte, byte };     /* tag, operation, address, value */
#ifdef HASTY
chan hasty[NP] = [1] of { byte, bit, byte, byte };
#endif
chan bank[NA] = [1] of { byte, byte, bit, byte };        /* who, tag, operation, value */
chan answer[NP] = [2] of { byte, byte };                         /* tag, value */
byte flying;

#define mem_quiet (flying == 0)

inline mem_issue(p, tag, op, a, v) {
#ifdef HASTY
	atomic {
		if
		:: op == MEM_WRITE -> request[p]!tag,op,a,v
		:: op == MEM_READ -> hasty[p]!tag,op,a,v
		fi;
		flying++
	}
#else
	atomic { request[p]!tag,op,a,v; flying++ }
#endif
}
inline mem_reply(p, tag, v) { atomic { answer[p]?tag,v; flying-- } }
inline mem_fence(p) { skip }

inline bus_cycle(lane) {                         /* the place in the queue of the bank is the place in the order */
	lane?tag,op,where,what; bank[where]!me,tag,op,what;
#ifdef ORDER
	if :: op == MEM_WRITE -> ORDER(where, what) :: op == MEM_READ fi;
#endif
	tag = 0; op = 0; where = 0; what = 0
}
proctype Bus(byte me) {
	byte tag, where, what; bit op;
end:	do
	:: atomic { bus_cycle(request[me]) }
	od
}
#ifdef HASTY
proctype Lane(byte me) {
	byte tag, where, what; bit op;
end:	do
	:: atomic { bus_cycle(hasty[me]) }
	od
}
#endif
proctype Bank(byte where) {
	byte who, tag, what; bit op;
end:	do
	:: atomic {
		bank[where]?who,tag,op,what ->
		if
		:: op == MEM_WRITE -> mem[where] = what; what = 0
		:: op == MEM_READ -> what = mem[where]
		fi;
		answer[who]!tag,what; who = 0; tag = 0; op = 0; what = 0
	   }
	od
}
inline mem_start() {
	byte started;
	for (started : 0 .. NP - 1) {
		run Bus(started);
#ifdef HASTY
		run Lane(started)
#endif
	}
	for (started : 0 .. NA - 1) { run Bank(started) }
}
