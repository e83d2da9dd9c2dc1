/* The node does not ask who it is. */
byte n;

proctype node(byte id) { n++; assert(n <= 2) }

init { run node(1); run node(2) }
