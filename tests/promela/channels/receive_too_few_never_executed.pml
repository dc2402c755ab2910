// quotient: --raw --all --safety => holds, states 2, transitions 1
// quotient: --all --safety => holds, at most 2 states
/* A receive with too few fields that is never executed is not an error. */
chan c = [1] of { byte, byte };
byte x;
active proctype S() { x = 1 }
active proctype R() { end: c?x; x = 5 }
