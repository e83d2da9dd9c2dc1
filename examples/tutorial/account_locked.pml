//@ check: safety
//@ expect: verdict=holds states=40
/*
 * The account, repaired with a lock. Only testing and taking the lock is one step; the booking itself is not.
 */

byte balance;
byte finished;
bool locked;

inline acquire()	{ atomic { !locked -> locked = true } }
inline release()	{ locked = false }

active [2] proctype teller()
{
	byte seen;

	acquire();
	seen = balance;
	balance = seen + 10;
	release();
	finished++
}

active proctype auditor()
{
	finished == 2;
	assert(balance == 20)
}
