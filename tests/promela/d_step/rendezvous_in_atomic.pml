// quotient: --raw --all --safety => holds, states 9, transitions 10
// quotient: --all --safety => holds, at most 9 states
/* A deterministic step with a rendezvous receive in an atomic sequence. */
chan c = [0] of { byte };
byte x, y;
active proctype S() { c!1; y = 5 }
active proctype R() { atomic { y = 1; d_step { c?x; y = y + x }; y = y * 2 }; assert(y == 4 || y == 5) }
