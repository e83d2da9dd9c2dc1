// seed 51, differs in: accept
// Spin: 3 states, 0 errors
// ours: rejected: the value of `_` cannot be read
chan q6 = [0] of { int };
init {
  skip
}
trace {
  q6!_
}
