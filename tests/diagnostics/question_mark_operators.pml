int a, b, c;
active proctype P() { a = b > 0 ? c : 3 }
active proctype Q() { a = b ? c : 3 }
active proctype R() { c ? a : b }
