// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* Division and remainder of negative numbers truncate toward zero. */
int q, r;
active proctype P() { q = -7; r = q % 2; q = q / 2; assert(q == -3 && r == -1) }
