byte x;
active proctype p() {
	d_step {
		x = 1;
		goto done
	};
done:	skip
}
