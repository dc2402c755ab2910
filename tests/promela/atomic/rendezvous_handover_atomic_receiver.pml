// quotient: --raw --all --safety => holds, states 15, transitions 20
// quotient: --all --safety => holds, at most 12 states
/* Both ends in atomic sequences: control goes to the receiver, then returns. */
chan c = [0] of { byte };
byte x;
active proctype S() { atomic { x = 1; c!1; x = 2; x = 3 } }
active proctype R() { atomic { c?1; assert(x == 1); x = 7; x = 8 } }
active proctype O() { byte t; t = x }
