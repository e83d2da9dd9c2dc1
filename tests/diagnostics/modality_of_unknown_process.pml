bool p;
active proctype q() { p = true }
mu step { <r> p }
