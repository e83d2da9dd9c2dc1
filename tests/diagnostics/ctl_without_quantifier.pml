bool p;
active proctype q() { p = true }
ctl soon { <> p }
