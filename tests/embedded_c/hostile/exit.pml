byte x;
active proctype p() { x = 1; c_code { exit(0); }; x = 2 }
