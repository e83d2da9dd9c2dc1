byte x;
inline next(n) { return n + 1 }
init { next(x) }
