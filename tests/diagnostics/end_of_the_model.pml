int x;
init {
	do
	:: x = 1
