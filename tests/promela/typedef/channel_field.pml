// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* A channel as a field of a structure. */
typedef port { chan q = [1] of { byte }; byte last };
port p;
active proctype S() { p.q!3 }
active proctype R() { p.q?p.last; assert(p.last == 3) }
