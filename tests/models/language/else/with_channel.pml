// `else` beside a receive: it runs when the channel is empty.
//@ check: safety
//@ expect: verdict=holds states=13
chan q = [1] of { byte };
byte x;
active proctype P() {
  if
  :: q?x
  :: else -> x = 9
  fi
}
active proctype Q() { q!3 }
