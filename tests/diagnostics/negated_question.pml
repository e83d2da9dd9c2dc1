chan c = [1] of { byte };
init {
	!full(c);
	empty(c) == 1
}
