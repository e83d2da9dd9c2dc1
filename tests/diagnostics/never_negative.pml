/* A byte that counts down becomes 255 after 0. */
byte credit = 3;

active proctype spender() {
    do
    :: credit = credit - 2;
       if
       :: credit < 0 -> break
       :: else
       fi
    od
}
