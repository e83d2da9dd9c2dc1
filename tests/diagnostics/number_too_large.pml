int x;
init { x = 3000000000 }
