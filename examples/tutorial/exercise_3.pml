//@ check: safety
//@ expect: verdict=violated kind=end-state states=6
/*
 * Exercise 3. A client asks, a server answers, over a channel that may lose the request. The client then waits forever. Let
 * the client ask again: `timeout` is true when nothing else in the whole system can happen.
 */

mtype = { request, answer };

chan network = [1] of { mtype };
chan back = [1] of { mtype };

active proctype client()
{
	if
	:: network!request
	:: skip			/* lost */
	fi;
	back?answer
}

active proctype server()
{
end:	do
	:: network?request -> back!answer
	od
}
