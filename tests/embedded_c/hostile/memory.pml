byte x;
active proctype p() { x = 1; c_code { for (;;) { char *p = malloc(1 << 20); memset(p, 1, 1 << 20); } }; x = 2 }
