/* Alternating bit protocol in a chain: messages cross HOPS lossy links, each with a bit and an
   acknowledgement of its own. Arrays of channels, processes started with parameters.
   Sizes: small HOPS=2 CAP=1, medium HOPS=2 CAP=3. */
#ifndef HOPS
#define HOPS 2
#endif
#ifndef CAP
#define CAP 1
#endif
#define KINDS 3

/* Send, or lose the message when the link is full. */
#define SEND(link, message) if :: link!message :: full(link) fi

chan forth[HOPS] = [CAP] of { bit, byte };
chan back[HOPS] = [CAP] of { bit };

proctype source() {
  byte item;
  bit mark, seen;
  do
  :: SEND(forth[0], mark(item))
  :: back[0]?seen ->
     if
     :: seen == mark -> mark = 1 - mark; item = (item + 1) % KINDS
     :: else
     fi
  :: back[0]?_
  od
}

proctype relay(byte here) {    /* between link here-1 and link here */
  byte item, heard;
  bit in_mark, out_mark, seen;
  bool busy;
  do
  :: forth[here - 1]?seen, heard ->
     if
     :: seen == in_mark && !busy -> item = heard; busy = true; in_mark = 1 - in_mark;
        SEND(back[here - 1], seen)
     :: seen == in_mark && busy       /* cannot be taken now: as good as lost */
     :: seen != in_mark -> SEND(back[here - 1], seen)
     fi
  :: forth[here - 1]?_, _
  :: busy -> SEND(forth[here], out_mark(item))
  :: back[here]?seen ->
     if
     :: busy && seen == out_mark -> busy = false; out_mark = 1 - out_mark
     :: else
     fi
  :: back[here]?_
  od
}

proctype sink() {
  byte item, wanted;
  bit mark, seen;
  do
  :: forth[HOPS - 1]?seen, item ->
     if
     :: seen == mark -> assert(item == wanted); wanted = (wanted + 1) % KINDS; mark = 1 - mark
     :: else
     fi;
     SEND(back[HOPS - 1], seen)
  :: forth[HOPS - 1]?_, _
  od
}

init {
  byte i = 1;
  atomic {
    run source();
    do
    :: i < HOPS -> run relay(i); i++
    :: else -> break
    od;
    run sink()
  }
}
