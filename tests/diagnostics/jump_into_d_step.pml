byte x;
active proctype p() {
	goto inside;
	d_step {
		x = 1;
inside:		x = 2
	}
}
