// quotient: --raw --all --safety => violated channel, states 6, transitions 5
// quotient: --all --safety => violated channel, at most 6 states
/* A receive with fewer fields than the message. */
chan c = [1] of { byte, byte };
byte x;
active proctype S() { c!1,2 }
active proctype R() { c?x; assert(x == 1) }
