byte x;
init { x = 0x1F }
