// quotient: --raw --all --safety => holds, states 23, transitions 31
// quotient: --all --safety => holds, at most 23 states
/* A deterministic step in the main sequence is entered whole or not at all. */
byte x; bit e;
active proctype P() { { d_step { x = 1; x = 2 }; x = 3 } unless { e -> x = 9 } }
active proctype Q() { e = 1; assert(x != 1) }
