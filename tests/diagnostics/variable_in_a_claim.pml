never {
	byte x;
	do
	:: x == 0
	od
}
init { skip }
