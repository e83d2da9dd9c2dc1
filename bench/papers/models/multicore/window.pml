/* Sliding window (go back to the oldest) over two lossy channels. WINDOW messages may be under way, the channels hold
   CAP each, and MESSAGES are sent in all.
   Accept label: the sender takes a new message. Until it goes on, the channels only run empty; and it takes no more
   than MESSAGES, so no cycle is accepted, though repetition makes cycles everywhere else. */
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef CAP
#define CAP 1
#endif
#ifndef MESSAGES
#define MESSAGES 5
#endif
#define SPAN (WINDOW + 1)

chan data = [CAP] of { byte, byte };
chan acks = [CAP] of { byte };

active proctype sender() {
  byte base, ahead, known, a;   /* the oldest message not acknowledged; how many after it were sent; how many exist */
  do
  :: base + ahead < known && ahead < WINDOW ->
     data!((base + ahead) % SPAN), base + ahead;
     ahead++
  :: known < MESSAGES && known < base + WINDOW ->
accept_new:
     known++
  :: ahead > 0 -> ahead = 0
  :: acks?a ->
     a = (a + SPAN - base % SPAN) % SPAN;
     d_step {
       base = base + a;
       ahead = (ahead > a -> ahead - a : 0);
       a = 0
     }
  :: base == MESSAGES -> break
  od
}

active proctype receiver() {
  byte expected, n, payload;
end:
  do
  :: data?n, payload ->
     if
     :: n == expected % SPAN ->
        assert(payload == expected);
        expected++
     :: else
     fi;
     n = 0;
     payload = 0;
     acks!(expected % SPAN)
  od
}

active proctype thief() {
end:
  do
  :: data?_, _
  :: acks?_
  od
}
