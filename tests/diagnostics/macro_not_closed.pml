#define TWICE(x) x; x
byte n;
init { TWICE(n++ }
