// A process of low priority runs while the higher ones are blocked.
//@ check: safety
//@ expect: verdict=holds states=7
byte x;
active proctype High() priority 5 { x == 1; x = 2 }
active proctype Low() priority 2 { x = 1; x = 3 }
