byte x;
active proctype p() { x = 1; c_code { system("true"); }; x = 2 }
