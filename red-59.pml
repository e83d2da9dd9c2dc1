// seed 59, differs in: accept
// Spin: 2 states, 0 errors
// ours: rejected: the value of `_` cannot be read
typedef T0 { mtype f0[2] };
chan q6 = [1] of { byte, T0 };
init {
  byte l32
}
notrace {
  q6!_,_,_
}
