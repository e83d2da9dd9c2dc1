bool p;
ltl safe { G p }
ltl live { F (p) }
init { p = true }
