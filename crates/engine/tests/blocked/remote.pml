//
active proctype a() { byte x = 1; at: x == 2 }
active proctype b() { a[0]:x == 2 }
active proctype c() { !a[0]@at }
active proctype d() { enabled(0) || pc_value(0) == 0 || _last == 3 }
