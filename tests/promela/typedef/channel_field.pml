// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* A channel as a field of a structure. */
typedef port { chan q = [1] of { byte }; byte last };
port p;
active proctype S() { p.q!3 }
active proctype R() { p.q?p.last; assert(p.last == 3) }
