//@ check: safety
//@ expect: verdict=violated kind=assertion states=16
/*
 * Solution 4. The assertion claims that there are never four litres in the large jug. With --search bfs the
 * counterexample is a shortest recipe.
 */

#define SMALL 3
#define LARGE 5

byte small, large;

/* Pours from one jug into the other until the first is empty or the second full. */
inline pour(from, into, size)
{
	d_step {
		from > 0 && into < size ->
		if
		:: from <= size - into -> into = into + from; from = 0
		:: else -> from = from - (size - into); into = size
		fi
	}
}

active proctype cook()
{
	do
	:: d_step { small < SMALL -> small = SMALL }	/* fill */
	:: d_step { large < LARGE -> large = LARGE }
	:: d_step { small > 0 -> small = 0 }		/* empty */
	:: d_step { large > 0 -> large = 0 }
	:: pour(small, large, LARGE)
	:: pour(large, small, SMALL)
	:: assert(large != 4)
	od
}
