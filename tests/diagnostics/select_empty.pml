byte x;
init { select (x : 5 .. 2) }
