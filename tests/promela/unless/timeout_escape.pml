// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* A timeout as the escape from a blocked sequence. */
byte x;
active proctype P() { { x = 1; (x == 7) } unless { timeout -> x = 2 }; assert(x == 2) }
