#define N 3
#if N >
byte x;
#endif
#if N > 2 byte
byte y;
#endif
init { skip }
