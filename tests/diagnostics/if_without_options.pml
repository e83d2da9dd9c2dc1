int x;
init {
	if
		x > 0 -> x = 1
	fi
}
