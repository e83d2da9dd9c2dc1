// 1: lock(m); 0: lock(n)
lock m, n;
active proctype b() { lock(n); lock(m); unlock(m); unlock(n) }
active proctype a() { lock(m); lock(n); unlock(n); unlock(m) }
