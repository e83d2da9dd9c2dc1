protype worker() { skip }

active proctype main() {
	byte x;
	asert(x == 0);
	atomc { x = 1 };
	gto done;
done:	skip
}
