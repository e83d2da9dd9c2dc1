// The parameters of an inline are replaced as text.
//@ check: safety
//@ expect: verdict=holds states=4
byte x = 1;
inline twice(v, e) { v = v + e * 2 }
active proctype P() { twice(x, 1 + 1); assert(x == 4) }
