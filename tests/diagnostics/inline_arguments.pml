inline swap(a, b, t) { t = a; a = b; b = t }
byte x, y, z;
init { swap(x, y) }
