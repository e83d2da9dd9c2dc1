byte x;
init { x.count = 1 }
