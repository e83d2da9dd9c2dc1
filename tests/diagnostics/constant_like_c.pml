const int N = 3;
byte x[3];
active proctype P() {
	const byte one = 1;
	x[0] = 1; assert(x[0] == 1)
}
