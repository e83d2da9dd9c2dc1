//@ check: safety
//@ expect: verdict=holds states=6
/*
 * Solution 3. Send until an answer arrives. Each loss is followed by a timeout, because nobody else can move then. Note
 * what is not claimed: when every request is lost, the client goes on asking forever.
 */

mtype = { request, answer };

chan network = [1] of { mtype };
chan back = [1] of { mtype };

active proctype client()
{
ask:	if
	:: network!request
	:: skip			/* lost */
	fi;
	if
	:: back?answer
	:: timeout -> goto ask
	fi
}

active proctype server()
{
end:	do
	:: network?request -> back!answer
	od
}
