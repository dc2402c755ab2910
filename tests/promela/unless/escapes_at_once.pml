// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* An escape that is executable at the start wins. */
byte x;
active proctype P() { { x = 1; x = 2 } unless { true -> x = 9 }; assert(x == 9) }
