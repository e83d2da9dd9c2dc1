byte x;
ltl small { [] x < 3 }
init { x = 1 }
