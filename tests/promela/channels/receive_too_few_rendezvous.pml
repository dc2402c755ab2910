// quotient: --raw --all --safety => violated channel, states 5, transitions 4
// quotient: --all --safety => violated channel, at most 5 states
/* The same by rendezvous. */
chan c = [0] of { byte, byte };
byte x;
active proctype S() { c!1,2 }
active proctype R() { c?x; assert(x == 1) }
