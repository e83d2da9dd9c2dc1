active proctype p() {
	count = 1
}
byte count;
