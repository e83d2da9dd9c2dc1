//@ check: safety
//@ expect: verdict=holds states=50617
//@ check: safety -D PLAIN_STORE
//@ expect: verdict=violated kind=assertion,end-state states=92595
//@ check: safety -D NO_HELP
//@ expect: verdict=violated kind=assertion states=46347
/*
 * The lock-free queue of Michael and Scott (1996), on which the concurrent queues of many libraries are built.
 *
 * The queue is a linked list with a dummy node in front; `head` points to the dummy, `tail` to the last node or, for a
 * moment, to the one before: an enqueuer first links its node behind the last one (compare-and-swap on `next`) and then
 * moves `tail` (a second compare-and-swap). Whoever finds the tail lagging behind helps to move it, so nobody ever waits
 * for a thread that was interrupted half-way.
 *
 * Nodes are not reused here (think of garbage collection; aba_stack.pml shows what reuse brings).
 *
 * Checked: the items of each producer come out in order, none doubled, none lost; `tail` never falls behind `head`;
 * and no deadlock.
 *
 * Try this:
 *   -D PLAIN_STORE   link the node with a plain store instead of compare-and-swap: another node is overwritten
 *   -D NO_HELP       a dequeuer does not look at `tail`: the head overtakes it
 */

#define PRODUCERS 2
#ifndef ITEMS
#define ITEMS 2				/* of producer 0; producer 1 makes one less */
#endif
#define TOTAL (2 * ITEMS - 1)
#define NODES (1 + PRODUCERS * ITEMS)
#define NIL 255

byte next[NODES] = NIL;
byte head, tail;			/* node 0 is the dummy */
byte awaited[PRODUCERS] = { 0, 1 };	/* ghost: which item of each producer must come out next */

/* Node numbers say who made the node and in which order. */
#define NODE(producer, item)	(1 + (producer) * ITEMS + (item))
#define PRODUCER(node)		(((node) - 1) / ITEMS)
#define ITEM(node)		(((node) - 1) % ITEMS)

inline compare_and_swap(variable, old, new)
{
	d_step {
		done = (variable == old);
		if
		:: done -> variable = new
		:: else
		fi
	}
}

inline enqueue(node)
{
	do
	:: last = tail;
	   successor = next[last];
	   if
	   :: successor != NIL -> compare_and_swap(tail, last, successor)	/* help */
	   :: else ->
#ifdef PLAIN_STORE
		next[last] = node;
		done = true;
#else
		compare_and_swap(next[last], NIL, node);
#endif
		if
		:: done ->
			compare_and_swap(tail, last, node);
			break
		:: else
		fi
	   fi
	od
}

/* Waits while the queue is empty: polling would do the same and only hide a lost item. */
inline dequeue()
{
	do
	:: first = head;
	   last = tail;
	   successor = next[first];
	   if
	   :: successor == NIL -> next[head] != NIL
#ifndef NO_HELP
	   :: successor != NIL && first == last -> compare_and_swap(tail, last, successor)	/* help */
#endif
	   :: else ->
		d_step {
			compare_and_swap(head, first, successor);
			if
			:: done ->
				assert(tail != first);
				assert(ITEM(successor) == awaited[PRODUCER(successor)]);
				awaited[PRODUCER(successor)]++
			:: else
			fi
		};
		if
		:: done -> break
		:: else
		fi
	   fi
	od
}

/* Values that are not needed any more would only make states different. */
inline forget()	{ atomic { last = 0; successor = 0; done = false } }

active [PRODUCERS] proctype producer()
{
	byte item, last, successor;
	bool done;

	/* producer 1 begins with item 1 */
	for (item : _pid .. ITEMS - 1) {
		enqueue(NODE(_pid, item));
		forget()
	}
}

active proctype consumer()
{
	byte count, first, last, successor;
	bool done;

	for (count : 1 .. TOTAL) {
		dequeue();
		atomic { first = 0; forget() }
	}
}
