#define BIG
#ifdef BIG
byte a[100];
#endif BIG
init { skip }
