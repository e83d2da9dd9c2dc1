byte count;
proctype worker(byte id) {
	byte count;
	byte id;
	count = id
}
init { run worker(1) }
