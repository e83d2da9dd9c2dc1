// seed 39, differs in: accept
// Spin: 3 states, 0 errors
// ours: rejected: the value of `_` cannot be read
chan q4 = [1] of { pid, byte };
init {
  skip
}
notrace {
  q4!_,_
}
