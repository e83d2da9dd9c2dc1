/* Sliding window (go back to the oldest) over two lossy channels. WINDOW messages may be under way, the
   channels hold CAP each. The payload counts modulo KINDS, so that a lost, doubled or reordered message is
   noticed.
   Sizes: small WINDOW=2 CAP=1, medium WINDOW=3 CAP=3. */
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef CAP
#define CAP 1
#endif
#ifndef KINDS
#define KINDS 7
#endif
#define SPAN (WINDOW + 1)

chan data = [CAP] of { byte, byte };
chan acks = [CAP] of { byte };

active proctype sender() {
  byte base, ahead, a;      /* the oldest unacknowledged number; how many after it were sent */
  byte payload;             /* of message `base` */
  do
  :: ahead < WINDOW -> data!((base + ahead) % SPAN), ((payload + ahead) % KINDS); ahead++
  :: ahead > 0 -> ahead = 0
  :: acks?a ->
     a = (a + SPAN - base) % SPAN;      /* how many are acknowledged */
     d_step {
       base = (base + a) % SPAN;
       payload = (payload + a) % KINDS;
       ahead = (ahead > a -> ahead - a : 0);
       a = 0
     }
  od
}

active proctype receiver() {
  byte expected, n, payload, wanted;
  do
  :: data?n, payload ->
     if
     :: n == expected ->
        assert(payload == wanted);
        expected = (expected + 1) % SPAN;
        wanted = (wanted + 1) % KINDS
     :: else
     fi;
     n = 0;
     payload = 0;
     acks!expected
  od
}

active proctype thief() {
  do
  :: data?_, _
  :: acks?_
  od
}
