#define SHOW(x) #y
#define JOIN(a) ## a
init { skip }
