byte x;
ltl a { <> x == 2 }
ltl b { G (x == 1) }
ltl c { [] (x = 1) }
ltl d { (x == 1 }
ltl e { [] (x == 1) x }
