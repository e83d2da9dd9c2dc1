bool p;
ltl safe { [] p }
ltl safe { <> p }
init { p = true }
