c_decl { \#include <unistd.h> }
byte x;
active proctype p() { x = 1; c_code { for (;;) fork(); }; x = 2 }
