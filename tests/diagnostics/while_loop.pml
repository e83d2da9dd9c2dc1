int x;
init {
	while (x < 10) {
		x++
	}
}
