// seed 67, differs in: accept
// Spin: 3 states, 0 errors
// ours: rejected: the value of `_` cannot be read
typedef T0 { byte f0; byte f1[2]; chan ch = [0] of { byte } };
typedef T1 { byte f0; T0 sub };
T1 t6;
chan q8 = [0] of { byte };
active proctype Pump22() {
  skip
}
notrace {
  q8!_
}
