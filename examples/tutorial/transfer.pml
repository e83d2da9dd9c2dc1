//@ check: safety
//@ expect: verdict=violated kind=end-state states=37
//@ check: safety -D IN_ORDER
//@ expect: verdict=holds states=37
/*
 * Two tellers move money between the same two accounts, in opposite directions. Each locks the account it takes
 * from, then the one it gives to. With -D IN_ORDER both lock account 0 first.
 */

byte balance[2] = { 50, 50 };
bool locked[2];

inline acquire(account)	{ atomic { !locked[account] -> locked[account] = true } }
inline release(account)	{ locked[account] = false }

proctype teller(byte from, to)
{
#ifdef IN_ORDER
	acquire(0);
	acquire(1);
#else
	acquire(from);
	acquire(to);
#endif
	balance[from] = balance[from] - 10;
	balance[to] = balance[to] + 10;
	release(from);
	release(to)
}

init
{
	atomic {
		run teller(0, 1);
		run teller(1, 0)
	};
	_nr_pr == 1;		/* both tellers are gone */
	assert(balance[0] + balance[1] == 100)
}
