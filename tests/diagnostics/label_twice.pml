active proctype p() {
again:	skip;
again:	skip;
	goto again
}
