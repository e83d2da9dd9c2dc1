byte a[4];
byte x;
init {
	x = a;
	x[2] = 1
}
