bool p;
active proctype q() { p = true }
mu odd { mu Z. (p || ! <> Z) }
