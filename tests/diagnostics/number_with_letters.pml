#define B 2
byte x;
init { x = 1B }
