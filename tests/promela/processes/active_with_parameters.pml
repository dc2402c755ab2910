// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 3 states
/* Parameters of an active proctype start at zero. */
active proctype P(byte v) { assert(v == 0); v = 2 }
