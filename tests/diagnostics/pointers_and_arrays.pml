int *p;
byte[3] a;
int b[];
init { skip }
