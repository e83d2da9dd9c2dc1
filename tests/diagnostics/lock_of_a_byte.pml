// options: pv
byte b;
init { lock(b); unlock(b) }
