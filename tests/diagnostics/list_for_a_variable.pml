byte x = { 1, 2 };
init { x = 1 }
