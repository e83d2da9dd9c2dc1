#define N 0
byte a[N];
init { skip }
