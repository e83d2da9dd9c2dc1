active proctype worker() {
critical:
	skip
}
never {
	do
	:: worker[0]@critcal -> break
	:: true
	od
}
