#define MAX(a, b) (a > b -> a : b)
byte x, y;
init {
	x = MAX(x);
	y = MAX(x, y, 3)
}
