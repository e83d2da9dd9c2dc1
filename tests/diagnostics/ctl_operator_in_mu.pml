bool p;
active proctype q() { p = true }
mu always { AG p }
