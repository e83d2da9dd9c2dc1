// Priorities can be changed and asked for.
//@ check: safety
//@ expect: verdict=holds states=18
byte x;
active proctype P() priority 2 {
  assert(get_priority(_pid) == 2);
  set_priority(_pid, 1);
  assert(_priority == 1);
  x = 1
}
active proctype Q() priority 2 { x = 2; _priority = 4; x = 3 }
