byte x, y;
active proctype forgotten() {
	do
	:: x == 0 -> x = 1
	(x == 1) -> x = 2
	else -> break
	od
}
active proctype meant() {
	do
	:: x == 0 -> x = 1
		(y == 1) -> x = 2
	:: y == 0 ->
	   y = 1
	   (x == 1) -> y = 2
	:: else -> break
	od
}
