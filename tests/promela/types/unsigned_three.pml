// quotient: --raw --all --safety => holds, states 9, transitions 8
// quotient: --all --safety => holds, at most 9 states
/* unsigned x : 3 counts modulo 8. */
unsigned u : 3 = 6;
active proctype P() { u++; u++; assert(u == 0); u--; assert(u == 7); u = 12; assert(u == 4) }
