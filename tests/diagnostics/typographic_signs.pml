byte x;
init {
	printf(“hello”);
	x ≠ 3;
	x = x – 1
}
