byte x
byte turn;

proctype user(byte me) {
	do
	:: trun == me -> x = ;
		assert(x = 1)
	:: else
	od
}

init {
	run usr(0);
	run user(1, 2)
}
