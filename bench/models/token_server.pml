/* A server lends TOKENS to CLIENTS over rendezvous channels and keeps those that must wait in a queue of
   its own. The answer comes on a channel that the client sends along.
   Sizes: small CLIENTS=3, medium CLIENTS=6. */
#ifndef CLIENTS
#define CLIENTS 3
#endif
#ifndef TOKENS
#define TOKENS 2
#endif

mtype = { ask, give_back, lend };
chan server = [0] of { mtype, chan };
byte lent;

active proctype keeper() {
  chan waiting = [CLIENTS] of { chan };
  chan who, next;
  byte left = TOKENS;
end:
  do
  :: server?ask, who ->
     if
     :: left > 0 -> left--; who!lend
     :: left == 0 -> waiting!who
     fi
  :: server?give_back, who ->
     if
     :: len(waiting) > 0 -> waiting?next; next!lend
     :: len(waiting) == 0 -> left++
     fi
  od
}

active [CLIENTS] proctype client() {
  chan mine = [0] of { mtype };
  byte work;
  do
  :: server!ask, mine;
     mine?lend;
     lent++;
     assert(lent <= TOKENS);
     do
     :: work < 3 -> work++
     :: work > 0 -> break
     od;
     work = 0;
     lent--;
     server!give_back, mine
  od
}
