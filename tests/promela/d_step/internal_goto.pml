// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* A jump inside a deterministic step. */
byte x;
active proctype P() { d_step { skip; l: x++; if :: x < 3 -> goto l :: else -> skip fi; x = x + 10 }; assert(x == 13) }
