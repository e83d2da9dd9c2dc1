// What an inline declares is its own; each call has it anew.
//@ check: safety
//@ expect: verdict=holds states=9
byte x;
inline add() { byte t; t++; x = x + t }
active proctype P() { byte u = 7; add(); add(); assert(x == 2 && u == 7) }
