//@ check: safety
//@ expect: verdict=holds states=22
/*
 * The account, repaired: reading and writing are one indivisible step.
 */

byte balance;
byte finished;

active [2] proctype teller()
{
	byte seen;

	atomic {
		seen = balance;
		balance = seen + 10
	};
	finished++
}

active proctype auditor()
{
	finished == 2;
	assert(balance == 20)
}
