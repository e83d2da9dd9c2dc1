active proctype worker() { skip }
active proctype boss() {
	byte n;
	n = worker + 1
}
