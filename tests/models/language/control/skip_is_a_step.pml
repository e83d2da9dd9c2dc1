// `skip` and `true` are steps, `printf` too.
//@ check: safety
//@ expect: verdict=holds states=31
active [2] proctype P() { skip; true; printf("%d\n", _pid); 1 }
