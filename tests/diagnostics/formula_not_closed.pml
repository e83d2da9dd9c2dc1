bool p;
init { p = true }
ltl safe { [] (p
