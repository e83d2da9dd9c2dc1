#define N 3
#define N 4
byte a[N];
init { a[0] = 1 }
