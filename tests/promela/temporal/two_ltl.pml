// quotient: --raw --all --safety => holds, states 3, transitions 2
// quotient: --all --safety => holds, at most 3 states
/* Several named properties. */
byte x;
ltl a { <> (x == 1) }
ltl b { (x == 0) U (x == 1) }
active proctype P() { x = 1 }
