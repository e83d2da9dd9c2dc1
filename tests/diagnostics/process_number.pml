bool p;
active proctype q() { p = true }
mu steps { <300> p || [q[255]] p || <254> p || <4294967295> p }
