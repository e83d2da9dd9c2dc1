proctype worker(byte id; chan c) { c!id }
chan c = [1] of { byte };
init {
	run worker(1);
	run worker(1, c, 2)
}
