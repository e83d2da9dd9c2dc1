int x;
init {
	if
	:: x > 0 -> x--
	:: else
	od
}
