byte x;
active proctype P() { x = 1 }
ltl a { GF (x == 1) }
ltl b { G F (x == 1) }
ltl c { FG x == 1 }
ltl d { !G(x == 1) }
ltl e { AG (x == 1) }
