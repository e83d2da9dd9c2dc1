byte x;
active proctype P() { x = 1 }
ltl a { (x == 0) => (x == 1) }
ltl b { (x == 0) ==> (x == 1) }
ltl c { (x == 0) <=> (x == 1) }
ltl d { (x == 0) ~> (x == 1) }
