proctype outer() {
	byte x;
	x = 1;
	proctype inner() { skip }
}
init { run outer() }
