// seed 17, differs in: accept
// Spin: 2 states, 0 errors
// ours: rejected: the value of `_` cannot be read
typedef T0 { byte f0; byte f1; chan ch = [1] of { byte } };
typedef T1 { byte f0; byte f1; T0 sub };
T1 t5;
chan q6 = [1] of { bool, byte };
init {
  byte la21[2]
}
trace {
  q6!_,_
}
