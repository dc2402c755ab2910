// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* Waiting for a rendezvous inside an atomic sequence. */
chan c = [0] of { byte };
byte x;
active proctype R() { byte v; atomic { x = 1; c?v; x = v; x++ } }
active proctype S() { c!4; x = 0 }
