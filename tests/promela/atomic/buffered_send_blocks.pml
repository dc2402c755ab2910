// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* A full buffer interrupts an atomic sequence. */
chan c = [1] of { byte };
byte x;
active proctype S() { atomic { c!1; x = 1; c!2; x = 2 } }
active proctype R() { c?1; c?2 }
