// A process dies only after all younger ones.
//@ check: safety
//@ expect: verdict=violated kind=end-state states=14
byte x;
proctype Old() { x = 1 }
proctype Young() { x == 1; (_nr_pr == 3); x = 2 }
init { run Old(); run Young() }
