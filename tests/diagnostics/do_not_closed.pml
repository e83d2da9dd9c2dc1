int x;
active proctype counter() {
	do
	:: x < 10 -> x++
	:: else -> break
}

active proctype other() {
	x = 0
}
