/* A sender that repeats what was not answered, a receiver that answers, and links that may lose what they carry. While messages are
   lost forever nothing need arrive; if they are not, and the receiver goes on, it does. */
#ifndef M
#define M 3
#endif
#ifndef CAP
#define CAP 2
#endif
chan there = [CAP] of { bit, byte };
chan back = [CAP] of { bit };
bool loses, reads, got;

active proctype sender() {
  bit b, a;
  byte n;
  do
  :: there!b, n
  :: back?a;
    if
    :: a == b -> b = 1 - b; n = (n + 1) % M
    :: else
    fi
  od
}

active proctype receiver() {
  bit b, expected;
  byte n, next;
  do
  :: there?b, n;
    reads = true;
    if
    :: b == expected -> expected = 1 - expected; assert(n == next); next = (n + 1) % M; got = true; got = false
    :: else
    fi;
    back!b;
    reads = false
  od
}

active proctype loss() {
  do
  :: there?_, _; loses = true; loses = false
  :: back?_; loses = true; loses = false
  od
}

ltl arrives { [] <> got }
ltl arrives_without_loss { ((<> [] !loses) && ([] <> reads)) -> ([] <> got) }
