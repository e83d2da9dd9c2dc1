chan c = [1] of { byte };
chan d = [1] of { byte };
byte x;
init {
	c = 3;
	x = c + 1;
	d++
}
