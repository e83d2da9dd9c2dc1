byte b;
mtype = { ok };
init {
	b!1;
	ok?1
}
