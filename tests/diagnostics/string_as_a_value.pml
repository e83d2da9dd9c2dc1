byte x;
init { x = "one" }
