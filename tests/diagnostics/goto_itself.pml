active proctype p() {
here:	goto here
}
