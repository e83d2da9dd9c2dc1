byte x;
#else
byte y;
#endif
init { skip }
