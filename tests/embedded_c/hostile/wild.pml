byte x;
active proctype p() { x = 1; c_code { *(volatile int *)(long)(now.x * 16) = 3; }; x = 2 }
