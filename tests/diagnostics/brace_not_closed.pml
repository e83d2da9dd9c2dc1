int x;
active proctype counter() {
	atomic {
		x = 1;
		x = 2

active proctype other() {
	x = 0
}
