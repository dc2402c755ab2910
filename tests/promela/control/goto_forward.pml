// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* A jump over statements. */
byte x;
active proctype P() { x = 1; goto out; x = 2; out: assert(x == 1) }
