// seed 83, differs in: accept
// Spin: 3 states, 0 errors
// ours: rejected: the value of `_` cannot be read
chan q7 = [1] of { chan };
init {
  skip
}
trace {
  q7!_
}
