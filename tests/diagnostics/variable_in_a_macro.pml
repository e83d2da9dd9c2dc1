#define RESET counter = start
byte counter;
init {
	RESET
}
