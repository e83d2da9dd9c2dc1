//@ check: safety
//@ expect: verdict=violated kind=assertion states=81
//@ check: safety -D OWN_CHANNEL
//@ expect: verdict=holds states=59
/*
 * A server doubles numbers for two clients. The clients share the channel for the answers, and so one can take
 * the answer that was meant for the other. With -D OWN_CHANNEL every client sends a channel of its own with its number.
 */

#ifdef OWN_CHANNEL

chan requests = [2] of { byte, chan };

active proctype server()
{
	byte number;
	chan back;

end:	do
	:: requests?number, back -> back!2 * number
	od
}

proctype client(byte number)
{
	chan answers = [1] of { byte };
	byte answer;

	requests!number, answers;
	answers?answer;
	assert(answer == 2 * number)
}

#else

chan requests = [2] of { byte };
chan answers = [2] of { byte };

active proctype server()
{
	byte number;

end:	do
	:: requests?number -> answers!2 * number
	od
}

proctype client(byte number)
{
	byte answer;

	requests!number;
	answers?answer;
	assert(answer == 2 * number)
}

#endif

init
{
	atomic {
		run client(1);
		run client(2)
	}
}
