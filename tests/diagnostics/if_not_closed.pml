#define SET(x)	x = yy
inline f(a) { a = zz }
proctype p(byte a; byte b) { skip }
chan c = [0] of { byte };
init {
	byte x;	byte x;
	SET(x);
	f(x);
	run p(1);
	if
	:: x == 1 -> skip
}
