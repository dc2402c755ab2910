// quotient: --raw --all --safety => holds, states 14, transitions 15
// quotient: --all --safety => holds, at most 14 states
/* A rendezvous send at the start of an atomic sequence. */
chan c = [0] of { byte };
byte x, y;
active proctype S() { atomic { c!1; x = 1; x = 2 } }
active proctype R() { byte v; c?v; y = x; assert(y == 0 || y == 1 || y == 2) }
