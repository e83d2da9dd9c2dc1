//@ check: safety
//@ expect: verdict=violated kind=end-state states=1
//@ check: safety -D CAPACITY=1
//@ expect: verdict=holds states=10
/*
 * Two friends who both insist on speaking first. On a rendezvous channel a send waits for the receive, and so both
 * wait forever. With room for one message (-D CAPACITY=1) both can speak, and then both listen.
 */

#ifndef CAPACITY
#define CAPACITY 0
#endif

mtype = { hello };

chan to_ann = [CAPACITY] of { mtype };
chan to_ben = [CAPACITY] of { mtype };

active proctype ann()
{
	to_ben!hello;
	to_ann?hello
}

active proctype ben()
{
	to_ann!hello;
	to_ben?hello
}
