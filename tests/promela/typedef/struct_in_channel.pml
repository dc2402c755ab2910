// expect: states=8 transitions=7 errors=none
// spin-default: states=7
/* A structure as a message field. */
typedef msg { byte k; byte v };
chan c = [1] of { msg };
active proctype S() { msg m; m.k = 1; m.v = 9; c!m }
active proctype R() { msg m; c?m; assert(m.k == 1 && m.v == 9) }
