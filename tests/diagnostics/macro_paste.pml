#define JOIN(a, b) a ## b
byte x;
init { x = JOIN(x, +) 1 }
