// quotient: --raw --all --safety => holds, states 7, transitions 8
// quotient: --all --safety => holds, at most 7 states
/* A deterministic step inside an atomic sequence. */
byte x;
active proctype P() { atomic { x = 1; d_step { x = 2; x = 3 }; x = 4 } }
active proctype Q() { assert(x == 0 || x == 4) }
