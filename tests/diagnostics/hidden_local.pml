proctype p() {
	hidden byte x;
	x = 1
}
init { run p() }
