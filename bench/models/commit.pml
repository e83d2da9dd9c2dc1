/* Two-phase commit: a coordinator and N participants that vote, over and over. A participant may be slow:
   then a timer, which fires at any time before the vote is read, makes the coordinator decide without it.
   Channels inside a typedef array, mtype data, else.
   Sizes: small N=4, medium N=6. */
#ifndef N
#define N 4
#endif

mtype = { prepare, yes, no, commit, abort, done };

typedef Link {
  chan to = [1] of { mtype };
  chan from = [2] of { mtype };
  mtype outcome
};

Link link[N];
byte committed, aborted;

proctype participant(byte i) {
end:
  do
  :: link[i].to?prepare ->
     link[i].outcome = 0;
     if
     :: link[i].from!yes
     :: link[i].from!no
     fi
  :: link[i].to?commit -> link[i].outcome = commit; committed++; link[i].from!done
  :: link[i].to?abort -> link[i].outcome = abort; aborted++; link[i].from!done
  od
}

proctype coordinator() {
  byte i, votes;
  mtype vote;
  bool late;
  do
  :: do
     :: i < N -> link[i].to!prepare; i++
     :: else -> break
     od;
     i = 0;
     do
     :: i < N ->
        link[i].from?vote;
        if
        :: vote == yes && !late -> votes++
        :: vote == yes && !late -> late = true    /* it came, but after the timer */
        :: else
        fi;
        i++
     :: else -> break
     od;
     i = 0;
     do
     :: i < N ->
        if
        :: votes == N -> link[i].to!commit
        :: else -> link[i].to!abort
        fi;
        i++
     :: else -> break
     od;
     i = 0;
     do
     :: i < N -> link[i].from?done; i++
     :: else -> break
     od;
     assert(committed == 0 || aborted == 0);
     assert(committed + aborted == N);
     d_step { committed = 0; aborted = 0; i = 0; votes = 0; vote = 0; late = false }
  od
}

init {
  byte i;
  atomic {
    do
    :: i < N -> run participant(i); i++
    :: else -> break
    od;
    run coordinator()
  }
}
