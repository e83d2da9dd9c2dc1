// seed 77, differs in: accept
// Spin: 3 states, 0 errors
// ours: rejected: the value of `_` cannot be read
chan q6 = [1] of { byte };
init {
  skip
}
trace {
  q6!_
}
