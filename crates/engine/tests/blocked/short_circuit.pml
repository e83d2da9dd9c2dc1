//
byte a, b, c = 1;
active proctype p() { a == 1 && b == 1 }
active proctype q() { c || b -> a = 1; b = 1 }
