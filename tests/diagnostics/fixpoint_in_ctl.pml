bool p;
active proctype q() { p = true }
ctl reach { mu Z. p || EX Z }
