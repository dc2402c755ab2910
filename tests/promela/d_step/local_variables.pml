// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* Locals declared inside a deterministic step. */
byte out;
active proctype P() { d_step { byte t = 4; t = t * 2; out = t; t = 0 }; assert(out == 8) }
