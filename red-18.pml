// seed 18, differs in: accept
// Spin: 3 states, 0 errors
// ours: rejected: the value of `_` cannot be read
chan q5 = [1] of { chan };
active proctype Pump25() {
  skip
}
trace {
  q5!_
}
