bool p;
active proctype q() { p = true }
ctl free { AG !deadlok && EF p }
