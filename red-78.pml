// seed 78, differs in: accept
// Spin: 3 states, 0 errors
// ours: rejected: the value of `_` cannot be read
typedef T0 { byte f0; byte f1; chan ch = [0] of { byte } };
T0 t2;
chan q4 = [0] of { byte };
active proctype Pump14() {
  skip
}
trace {
  q4!_
}
