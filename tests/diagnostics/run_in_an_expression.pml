proctype p(byte x) { skip }
byte n;
init {
	n = 1 + run p(1);
	run p(run p(2))
}
