//@ check: safety
//@ expect: verdict=holds states=823
//@ check: safety -D TICKETS=2
//@ expect: verdict=violated kind=assertion states=3025
//@ check: safety -D TORN
//@ expect: verdict=violated kind=assertion,end-state states=32107
/*
 * A ticket lock, as kernels use it: an atomic fetch-and-add draws a ticket, then one waits until it is called.
 * The waiting line is fair by construction.
 *
 * The counters of a real lock wrap around. How small may they be? With N threads at most N tickets are out at a
 * time, so N different tickets suffice, and that is what is checked here: no two threads inside, and no deadlock.
 *
 * Try this:
 *   -D TICKETS=2   one ticket too few for three threads: two of them hold the same one
 *   -D TORN        drawing a ticket is a read and a separate write; two threads read the same value
 */

#define N 3
#ifndef TICKETS
#define TICKETS N
#endif

byte next_ticket, now_serving;
byte inside;

inline draw(ticket)
{
#ifdef TORN
	ticket = next_ticket;
	next_ticket = (ticket + 1) % TICKETS
#else
	d_step {
		ticket = next_ticket;
		next_ticket = (ticket + 1) % TICKETS
	}
#endif
}

active [N] proctype thread()
{
	byte mine;

	do
	:: draw(mine);
	   now_serving == mine;

	   inside++;
	   assert(inside == 1);
	   inside--;

	   now_serving = (now_serving + 1) % TICKETS
	od
}
