byte x; #define N 3
init { x = 1 }
