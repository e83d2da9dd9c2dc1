byte x;
inline increment(n) { n = n + 1 }
init {
	incremnt(x);
	reset(x)
}
