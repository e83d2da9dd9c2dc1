byte a[4];
init { a[a[1]] = 2 }
