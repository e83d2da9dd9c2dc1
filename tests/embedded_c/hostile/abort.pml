byte x;
active proctype p() { x = 1; c_code { if (now.x == 1) abort(); }; x = 2 }
