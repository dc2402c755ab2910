// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* Messages with two fields. */
chan c = [1] of { byte, short };
active proctype S() { c!3,-4 }
active proctype R() { byte a; short b; c?a,b; assert(a == 3 && b == -4) }
