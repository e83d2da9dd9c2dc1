bool p, q;
active proctype r() { p = true; q = true }
ctl until { AG (p U q) }
