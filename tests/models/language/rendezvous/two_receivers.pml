// Any of two receivers may take the message.
//@ check: safety
//@ expect: verdict=holds states=6
chan q = [0] of { byte };
byte who;
active proctype S() { q!7 }
active [2] proctype R() {
end:
  q?7;
  who = _pid
}
