//@ check: safety
//@ expect: verdict=violated kind=assertion states=42
/*
 * Two tellers book ten coins each into the same account, and an auditor looks at the end.
 */

byte balance;
byte finished;

active [2] proctype teller()
{
	byte seen;

	seen = balance;
	balance = seen + 10;
	finished++
}

active proctype auditor()
{
	finished == 2;
	assert(balance == 20)
}
