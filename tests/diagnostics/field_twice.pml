typedef Point { int x; int y; byte x };
Point p;
init { p.x = 1 }
