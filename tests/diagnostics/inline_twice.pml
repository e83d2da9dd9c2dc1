inline f(a) { a = 1 }
inline f(a) { a = 2 }
byte x;
init { f(x) }
