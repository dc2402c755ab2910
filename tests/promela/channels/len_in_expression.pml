// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* len of two channels in an arithmetic expression. */
chan a = [2] of { bit };
chan b = [2] of { bit };
active proctype P() { a!1; b!1; b!0; assert(len(a) + 2 * len(b) == 5); if :: len(a) < len(b) -> a?_ fi }
