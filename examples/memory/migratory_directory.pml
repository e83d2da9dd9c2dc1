/* A directory protocol for migratory lines, in the manner of mig (the Utah Avalanche's, of which the PV report
   tells). There is one copy of each line, and it moves: who wants to read or write asks the home, the home
   tells the last one in the row to hand the line on, and puts the new one at the end of the row. A node that is
   told to hand on a line which has not arrived yet waits for it. */
#define line_of(p, a) ((p) * NA + (a))
#define NOBODY NP

byte mem[NA], line[NP * NA];
bool has[NP * NA], asked[NP];
chan to_home[NA] = [NP] of { byte };             /* who wants the line */
chan hand_on[NP * NA] = [NP] of { byte };        /* to whom */
chan arriving[NP * NA] = [1] of { byte };        /* the line itself */

inline get(p, a) { atomic { !has[line_of(p, a)] && !asked[p] -> asked[p] = true; to_home[a]!p } }
inline mem_read(p, a, v) {
	do
	:: atomic { has[line_of(p, a)] -> v = line[line_of(p, a)]; break }
	:: get(p, a)
	od
}
inline mem_write(p, a, v) {
	do
	:: atomic {
		has[line_of(p, a)] -> line[line_of(p, a)] = v;
#ifdef ORDER
		ORDER(a, v);
#endif
		break
	   }
	:: get(p, a)
	od
}
inline mem_fence(p) { skip }

proctype Node(byte me; byte where) {
	byte whom, what;
end:	do
	:: atomic {
		arriving[line_of(me, where)]?what ->
		line[line_of(me, where)] = what; has[line_of(me, where)] = true; asked[me] = false; what = 0
	   }
	:: atomic {
		nempty(hand_on[line_of(me, where)]) && has[line_of(me, where)] ->
		hand_on[line_of(me, where)]?whom; arriving[line_of(whom, where)]!line[line_of(me, where)];
		has[line_of(me, where)] = false; line[line_of(me, where)] = 0; whom = 0
	   }
	od
}
proctype Home(byte where) {
	byte last = NOBODY, who;
end:	do
	:: atomic {
		to_home[where]?who ->
		if
		:: last == NOBODY -> arriving[line_of(who, where)]!mem[where]; mem[where] = 0
		:: last != NOBODY -> hand_on[line_of(last, where)]!who
		fi;
		last = who; who = 0
	   }
	od
}
inline mem_start() {
	byte started, number;
	for (number : 0 .. NA - 1) {
		run Home(number);
		for (started : 0 .. NP - 1) { run Node(started, number) }
	}
}
