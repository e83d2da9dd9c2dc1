int x, y;
init {
	x = y
		* 2
}
