active proctype p() {
again:
	skip;
	goto agian
}
active proctype q() {
	goto finish
}
