// x = 1
byte x;
active proctype old() { x = 1 }
active proctype young() { x == 2 }
active proctype other() { x == 1 -> x = 2 }
