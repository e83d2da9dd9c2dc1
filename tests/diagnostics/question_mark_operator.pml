int x, y;
init { x = (y > 0 ? 1 : 2) }
