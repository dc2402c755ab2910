// quotient: --raw --all --safety => holds, states 11, transitions 11
// quotient: --all --safety => holds, at most 8 states
/* A rendezvous send inside hands control to the receiver. */
chan c = [0] of { byte };
byte x, y;
active proctype S() { atomic { x = 1; c!1; x = 2 } }
active proctype R() { byte v; c?v; y = x }
