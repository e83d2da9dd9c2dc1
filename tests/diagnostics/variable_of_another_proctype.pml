active proctype p() {
	byte secret;
	secret = 1
}
active proctype q() {
	secret = 2
}
ltl quiet { [] (secret == 0) }
