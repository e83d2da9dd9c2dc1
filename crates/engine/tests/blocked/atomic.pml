// x = 1
byte x;
active proctype a() { atomic { x = 1; x = 2 } }
active proctype b() { x = 3 }
