int i;
init {
	for (;;) { i++ }
}
