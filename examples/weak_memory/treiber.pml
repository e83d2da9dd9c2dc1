//@ check: safety
//@ expect: verdict=holds
//@ check: safety --memory tso
//@ expect: verdict=holds
//@ check: safety --memory pso
//@ expect: verdict=holds
//@ check: safety --memory tso -D PLAIN_STORE
//@ expect: verdict=violated kind=end-state
//@ check: safety --memory tso -D FLAG_FIRST
//@ expect: verdict=holds
//@ check: safety --memory pso -D FLAG_FIRST
//@ expect: verdict=violated kind=assertion
/*
 * A lock-free stack (Treiber, 1986) on memory with store buffers.
 *
 * A thread fills a node and then makes it the top with a compare-and-swap. That is an atomic sequence here, as it is a
 * locked instruction on x86: it waits until the own stores have reached memory. So whoever finds the node finds it
 * filled, under TSO and under PSO, and no fence is needed.
 *
 * Checked: what is popped was filled before.
 *
 * Try this:
 *   -D PLAIN_STORE    the top is swung with a load and a store: a node is lost, already without buffers
 *   -D FLAG_FIRST     the node is handed over by a plain flag instead: right under TSO, wrong under PSO
 */
#define NODES 2

byte top;                      /* 0 is the end */
byte next[NODES + 1];
byte filled[NODES + 1];
byte ready;

active [NODES] proctype pusher()
{
	byte node = _pid + 1;
	byte seen;

	filled[node] = 1;
#ifdef FLAG_FIRST
	ready = node
#else
	do
	:: seen = top;
	   next[node] = seen;
#ifdef PLAIN_STORE
	   top = node;
	   break
#else
	   atomic {
	      if
	      :: top == seen -> top = node; break
	      :: else
	      fi
	   }
#endif
	od
#endif
}

active proctype popper()
{
	byte seen, after, value, popped;

#ifdef FLAG_FIRST
	ready != 0;
	seen = ready;
	value = filled[seen];
	assert(value == 1)
#else
	do
	:: popped < NODES ->
	   seen = top;
	   if
	   :: seen == 0 -> top != 0
	   :: seen != 0 ->
	      after = next[seen];
	      atomic {
	         if
	         :: top == seen -> top = after; popped++
	         :: else -> seen = 0
	         fi
	      }
	      if
	      :: seen != 0 ->
	         value = filled[seen];
	         assert(value == 1)
	      :: seen == 0
	      fi
	   fi
	:: popped == NODES -> break
	od
#endif
}
