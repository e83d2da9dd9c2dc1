proctype client() { skip }
init {
	run cleint();
	run server()
}
