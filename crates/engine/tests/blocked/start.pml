// run child(0)
byte done;
proctype child(byte n) { n == 1 -> done = 1 }
init { run child(0); done == 1 -> run late(); (_nr_pr == 1) }
proctype late() { skip }
active proctype manager() { done == 3 -> run finisher() }
proctype finisher() { done = 1 }
