// Every label that begins with `end` is one.
//@ check: safety
//@ expect: verdict=holds states=2
byte x;
active proctype P() {
endless:
  x == 1
}
active proctype Q() {
  x = 2;
end_of_q:
  x == 3
}
