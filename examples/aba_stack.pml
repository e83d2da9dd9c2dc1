//@ check: safety
//@ expect: verdict=holds states=12001
//@ check: safety -D NO_TAGS
//@ expect: verdict=violated kind=assertion states=10337
//@ check: safety -D TAGS=3
//@ expect: verdict=violated kind=assertion states=12423
/*
 * A lock-free stack (Treiber, 1986) and the ABA problem.
 *
 * `top` points to a linked list of nodes. To pop, a thread reads `top` and the node's successor, and then swings `top` to
 * the successor with a compare-and-swap, which fails when `top` has changed in between. The trap: `top` can have
 * changed and be back. Thread 1 reads top A and successor B, and is delayed; thread 2 pops A, pops B and pushes A again.
 * The compare-and-swap of thread 1 still finds A and makes B the top, although B belongs to thread 2.
 *
 * The repair is a tag next to the pointer that counts the successful operations; comparing both tells the old A from the
 * new one. A tag of finite width is a bet: TAGS - 1 operations in the window are told apart.
 *
 * Checked: a node is in the stack or owned by exactly one thread, never both. (`owner` is a ghost variable.)
 *
 * Try this:
 *   -D NO_TAGS   the ABA problem
 *   -D TAGS=3    tags that wrap around after three operations: pop, pop, push is enough to fool them
 */

#define NODES 2
#define OPERATIONS 3		/* that each thread performs */
#define NIL 0			/* nodes are 1 .. NODES */
#define STACK 255		/* the owner of a node in the stack */

#ifdef NO_TAGS
#define TAGS 1
#endif
#ifndef TAGS
#define TAGS 8
#endif

byte top = 1, top_tag;		/* read and compared together, as a double word */
byte next[NODES + 1];
byte owner[NODES + 1] = STACK;

/* Swings the top from (old, tag) to new; done tells whether it worked. */
inline compare_and_swap(old, tag, new)
{
	done = (top == old && top_tag == tag);
	if
	:: done -> top = new; top_tag = (top_tag + 1) % TAGS
	:: else
	fi
}

inline pop()
{
	do
	:: d_step { node = top; tag = top_tag };
	   if
	   :: node == NIL -> break				/* empty */
	   :: else
	   fi;
	   successor = next[node];
	   d_step {
		compare_and_swap(node, tag, successor);
		if
		:: done ->
			assert(owner[node] == STACK);
			assert(successor == NIL || owner[successor] == STACK);
			owner[node] = _pid
		:: else
		fi
	   };
	   if
	   :: done -> break
	   :: else
	   fi
	od
}

inline push()
{
	do
	:: d_step { successor = top; tag = top_tag };
	   next[node] = successor;
	   d_step {
		compare_and_swap(successor, tag, node);
		if
		:: done -> owner[node] = STACK
		:: else
		fi
	   };
	   if
	   :: done -> break
	   :: else
	   fi
	od
}

/* Picks a node that this thread owns. */
inline pick_own()
{
	if
	:: owner[1] == _pid -> node = 1
	:: owner[2] == _pid -> node = 2
	:: else -> node = NIL
	fi
}

proctype thread()
{
	byte node, tag, successor, count;
	bool done;

	do
	:: count < OPERATIONS ->
		if
		:: pop()
		:: pick_own();
		   if
		   :: node != NIL -> push()
		   :: else
		   fi
		fi;
		atomic { node = NIL; tag = 0; successor = NIL; done = false; count++ }
	:: else -> break
	od
}

init
{
	atomic {
		next[1] = 2;
		run thread();
		run thread()
	}
}
