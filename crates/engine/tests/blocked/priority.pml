//
byte x;
active proctype low() priority 2 { x = 1 }
active proctype high() priority 5 { x = 2; (x == 3) }
