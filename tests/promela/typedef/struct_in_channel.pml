// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 7 states
/* A structure as a message field. */
typedef msg { byte k; byte v };
chan c = [1] of { msg };
active proctype S() { msg m; m.k = 1; m.v = 9; c!m }
active proctype R() { msg m; c?m; assert(m.k == 1 && m.v == 9) }
