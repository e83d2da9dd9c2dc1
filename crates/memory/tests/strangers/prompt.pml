/* expect: upo y, upo2 y, rowo1 y, rowo2 y, po_wr y, causal y, progress y
   Split transactions: done when they are issued, answered later. What others see of a processor that guessed what
   its read will return is no violation before the guess has come true. */
byte mem[NA];
chan answer[NP] = [2] of { byte, byte };
inline mem_start() { skip }
inline mem_issue(p, tag, op, a, v) {
	atomic {
		if
		:: op == MEM_WRITE -> mem[a] = v; answer[p]!tag,0
		:: else -> answer[p]!tag,mem[a]
		fi
	}
}
inline mem_reply(p, tag, v) { answer[p]?tag,v }
