int x;
init {
	printf(x);
	print("hello\n")
}
