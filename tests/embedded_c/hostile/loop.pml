byte x;
active proctype p() { x = 1; c_code { volatile int i = now.x; while (i) { } }; x = 2 }
