// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* An arrow separates like a semicolon. */
byte x;
active proctype P() { x = 1 -> x = 2 -> assert(x == 2) -> x = 3 }
