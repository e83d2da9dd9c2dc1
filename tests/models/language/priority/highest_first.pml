// Only the enabled process with the highest priority runs.
//@ check: safety
//@ expect: verdict=holds states=7
byte x;
active proctype High() priority 3 { x = 1; x = 2 }
active proctype Low() priority 1 { assert(x == 2); x = 3 }
