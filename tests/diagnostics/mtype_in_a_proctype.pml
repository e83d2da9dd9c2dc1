init {
	mtype = { red, green };
	skip
}
