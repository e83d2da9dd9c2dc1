proctype q() { skip }
byte x;
active proctype p() {
	d_step {
		x = 1;
		run q()
	}
}
