typedef Point { int x; int y };
Point p;
byte sum;
init {
	for (p.x : 1 .. 3) { sum++ }
}
