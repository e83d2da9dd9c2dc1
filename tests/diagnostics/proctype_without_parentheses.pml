active proctype worker {
	skip
}
