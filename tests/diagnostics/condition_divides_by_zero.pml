#if 10 / N > 2
byte x;
#endif
init { skip }
