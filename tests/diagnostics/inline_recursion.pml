inline countdown(n) { n--; countdown(n) }
byte x;
init { countdown(x) }
