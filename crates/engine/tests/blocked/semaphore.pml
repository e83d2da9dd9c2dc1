// 0: lock(s)
sema s = 1;
active proctype a() { lock(s); lock(s); unlock(s) }
active proctype b() { lock(s) }
active proctype c() { unlock(s) }
