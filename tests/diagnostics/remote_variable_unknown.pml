active proctype worker() {
	byte count;
	count = 1
}
never {
	do
	:: worker[0]:cuont == 1 -> break
	:: true
	od
}
