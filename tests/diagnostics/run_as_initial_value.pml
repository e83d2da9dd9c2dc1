proctype worker() { skip }
init {
	pid p = run worker();
	skip
}
