byte turn;
active proctype p() {
turn:	skip;
	goto turn
}
