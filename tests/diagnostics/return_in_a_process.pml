byte x;
proctype p() {
	x = 1;
	return x
}
init { run p() }
