byte counter;
inline reset(c) {
	c = start
}
init {
	reset(counter)
}
