byte c;
init { c = '\0'; assert(c == '0') }
