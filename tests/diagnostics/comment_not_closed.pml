byte x; /* the counter
init { x = 1 }
