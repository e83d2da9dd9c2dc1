inline reset(v) {
	v = 0;
	v == = 1
}
byte x, y;
init {
	reset(x);
	reset(y)
}
