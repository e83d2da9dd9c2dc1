//@ check: safety
//@ expect: verdict=holds states=33
//@ check: safety -D FREE_DRINKS
//@ expect: verdict=violated kind=trace
//@ check: safety -D STUBBORN
//@ expect: verdict=violated kind=end-state states=29
/*
 * A vending machine and a customer who talk over rendezvous channels: a message is a handshake, both sides take the
 * step together or not at all.
 *
 * The property is not an assertion in the code but a `trace`: it says in which order messages may pass through the
 * channels it mentions, whoever sends them. Here: first a coin, then a button, then exactly one drink, of the kind
 * that was asked for; or the machine gets tired of waiting for a button and gives the coin back.
 *
 * Checked: the trace; that the drink is the right one; that nobody gets stuck.
 *
 * Try this:
 *   -D FREE_DRINKS   the machine listens to the buttons without a coin: the trace is violated
 *   -D STUBBORN      the customer never takes the coin back: the machine wants to give it, the customer waits for the
 *                    button to work (a deadlock)
 */

mtype:drink = { tea, coffee };

chan coin = [0] of { bool };			/* true: into the machine, false: back */
chan button = [0] of { mtype:drink };
chan tray = [0] of { mtype:drink };

active proctype machine()
{
	mtype:drink wish;

end:	do
	:: coin?true ->
		if
		:: button?wish -> tray!wish
		:: true -> coin!false		/* tired of waiting */
		fi
#ifdef FREE_DRINKS
	:: button?wish -> tray!wish
#endif
	od
}

active proctype customer()
{
	mtype:drink wish, got;

	do
	:: if
	   :: wish = tea
	   :: wish = coffee
	   fi;
	   if
	   :: coin!true ->
		if
		:: button!wish -> tray?got; assert(got == wish)
#ifndef STUBBORN
		:: coin?false
#endif
		fi
	   :: button!wish -> tray?got		/* tries to get one for nothing */
	   fi
	od
}

/* Receives, not sends: a rendezvous send is an offer first, and an offer that nobody takes is no message. */
trace
{
	do
	:: coin?true ->
		if
		:: button?tea -> tray?tea
		:: button?coffee -> tray?coffee
		:: coin?false
		fi
	od
}
