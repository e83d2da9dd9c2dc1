byte mem[NA];
chan line = [1] of { byte, byte };
inline mem_start() { run Memory() }
inline mem_write(p, a, v) { line!a,v }
inline mem_read(p, a, v) { v = mem[a] }
proctype Memory() {
	byte where, what;
end:	do
	:: line?where,what;
		if
		:: what != 0 -> mem[where] = what
		:: else
		fi
	od
}
