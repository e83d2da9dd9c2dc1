hidden bit b;
hidden chan c;
init { b = 1 }
