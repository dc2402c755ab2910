// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* The narrowest unsigned is a bit. */
unsigned u : 1;
active proctype P() { u = 1; u++; assert(u == 0); u = u + 3; assert(u == 1) }
