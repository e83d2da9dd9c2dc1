#define ADD(a, a) a + a
#define MUL(a, 2) a
#define DIV(a
init { skip }
