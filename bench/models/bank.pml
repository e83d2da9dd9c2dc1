/* A bank: TELLERS move money between ACCOUNTS, two locks in ascending order. Balances are ints, amounts are
   shorts (also negative). With three accounts and two tellers the number of states is a cubic polynomial of
   MONEY.
   Sizes: small ACCOUNTS=3 MONEY=2, medium ACCOUNTS=3 MONEY=14, huge ACCOUNTS=3 MONEY=52. */
#ifndef ACCOUNTS
#define ACCOUNTS 3
#endif
#ifndef TELLERS
#define TELLERS 2
#endif
#ifndef MONEY
#define MONEY 2
#endif
#define UNIT 100000

int balance[ACCOUNTS];
bool locked[ACCOUNTS];

active [TELLERS] proctype teller() {
  byte low, high;
  short units;
  int left;
  do
  :: low = 0;
     do
     :: low < ACCOUNTS - 2 -> low++
     :: break
     od;
     high = low + 1;
     do
     :: high < ACCOUNTS - 1 -> high++
     :: break
     od;
     if
     :: units = 1
     :: units = -1
     fi;
     atomic { !locked[low] -> locked[low] = true };
     atomic { !locked[high] -> locked[high] = true };
     if
     :: balance[low] - units * UNIT >= 0 && balance[high] + units * UNIT >= 0 ->
        left = balance[low] - units * UNIT;
        balance[high] = balance[high] + units * UNIT;
        balance[low] = left
     :: else
     fi;
     locked[high] = false;
     locked[low] = false;
     units = 0;
     left = 0
  od
}

init {
  byte i;
  int sum;
  balance[0] = MONEY * UNIT;
  do
  :: d_step {
       sum == 0 ->
       i = 0;
       do
       :: i < ACCOUNTS && !locked[i] -> sum = sum + balance[i]; i++
       :: else -> break
       od;
       assert(i < ACCOUNTS || sum == MONEY * UNIT);
       i = 0;
       sum = 0
     }
  od
}
