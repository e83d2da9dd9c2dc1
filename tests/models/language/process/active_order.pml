// Active processes start in the order of the text, before `init` where it stands later.
//@ check: safety
//@ expect: verdict=holds states=31
active [2] proctype A() { assert(_pid < 2) }
init { assert(_pid == 2) }
active proctype B() { assert(_pid == 3) }
