int a[2][3];
active proctype P() { a[1][2] = 3 }
