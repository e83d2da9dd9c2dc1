byte x;
active proctype p() { do :: x < 5 -> x++ :: c_code { volatile int d = 5 - now.x; now.x = 6 / d; } od }
