bool p;
active proctype q() { p = true }
mu reach { mu Z. (p || <> Y) }
