//
byte x;
active proctype a() { do :: timeout -> break :: x == 1 && timeout -> x = 2 od }
active proctype b() { x = 1 }
