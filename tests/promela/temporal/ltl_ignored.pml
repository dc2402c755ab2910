// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* An ltl property plays no part in the count. */
byte x;
ltl p { [] (x < 2) }
active proctype P() { x = 1; x = 2; x = 3 }
