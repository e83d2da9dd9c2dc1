/* A never claim that counts what it sees: claim and program are one system. */
byte work, counted;

proctype Worker()
{
	work++;
	work--
}

init
{
	run Worker();
	run Worker()
}

never {
	do
	:: work > 0 && counted < 3 -> counted++
	:: true
	od
}
