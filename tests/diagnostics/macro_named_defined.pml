#define defined 1
#define 3
init { skip }
