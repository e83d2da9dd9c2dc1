byte x;
active proctype p() {
	atomic {
start:		x = 1;
		x = 2
	};
	goto start
}
