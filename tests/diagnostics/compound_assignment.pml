int x;
init {
	x += 2;
	x &&= 1;
	x := 3
}
