byte x;
x = 3;
assert(x == 3);
active proctype P() { x = 1; assert(x == 1) }
