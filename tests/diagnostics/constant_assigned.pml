mtype = { red, green };
init {
	red = 1;
	_nr_pr = 2
}
