byte x : 3;
init { x = 1 }
