// quotient: --raw --all --safety => holds, states 6, transitions 6
// quotient: --all --safety => holds, at most 6 states
/* A rendezvous receive at the start of an atomic sequence. */
chan c = [0] of { byte };
byte x;
active proctype S() { c!4; x++ }
active proctype R() { byte v; atomic { c?v; x = v; x = x * 2 } }
