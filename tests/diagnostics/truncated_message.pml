/* The sender's address is lost on the way. */
#define ADDRESS 1000
chan net = [2] of { mtype, byte };
mtype = { hello };
short from;

active proctype sender() { net!hello, ADDRESS }
active proctype receiver() { net?hello, from; assert(from == ADDRESS) }
