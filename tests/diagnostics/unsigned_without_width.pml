unsigned x;
unsigned y : 40;
init { x = 1; y = 2 }
