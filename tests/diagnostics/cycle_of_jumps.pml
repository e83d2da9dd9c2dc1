active proctype p() {
here:	goto there;
there:	goto here
}
