int i, sum;
init {
	for (i = 0; i < 10; i++) {
		sum = sum + i
	}
}
