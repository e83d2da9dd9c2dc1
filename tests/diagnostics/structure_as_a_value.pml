typedef Point { int x; int y };
Point p, q;
init { p = q }
