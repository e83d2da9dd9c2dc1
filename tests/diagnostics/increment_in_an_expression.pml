int x, y;
init {
	y = x++;
	++x
}
