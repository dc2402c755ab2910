// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* Comparison results are 0 and 1 and can be added. */
int n;
active proctype P() { n = (1 < 2) + (2 < 1) + !0 + !7; assert(n == 2) }
