// A loop inside a d_step is one step.
//@ check: safety
//@ expect: verdict=holds states=10
byte i, sum;
active proctype P() {
  d_step {
    do
    :: i < 3 -> sum = sum + i; i++
    :: else -> break
    od
  };
  assert(sum == 3)
}
active proctype Q() {
  assert(sum == 0 || sum == 3)
}
