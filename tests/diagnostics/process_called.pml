proctype near(byte n) { skip }
init {
	near(1);
	far(1, x + 1);
	foo(3);
	go near(2)
}
proctype far(byte n; byte m) { skip }
