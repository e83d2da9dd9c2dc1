//
byte x, y;
active proctype p() { byte own = 3; x > y && own == 3 }
active proctype q() { byte own; own == 1 }
active proctype r() { y = 0; x = 0 }
