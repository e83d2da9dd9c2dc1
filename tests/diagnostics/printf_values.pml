byte x;
active proctype P() {
	x = 1;
	printf("%d and %d\n", x);
	printf("100 %% of %d\n", x, x);
	printf("done\n")
}
