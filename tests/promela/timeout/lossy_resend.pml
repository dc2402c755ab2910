// quotient: --raw --all --safety => holds, states 14, transitions 13
// quotient: --all --safety => holds, at most 14 states
/* A sender repeats after a loss. */
chan c = [1] of { bit };
byte tries;
active proctype S() { do :: tries < 2 -> tries++; c!1; timeout -> skip :: tries == 2 -> break od }
active proctype R() { end: do :: c?1 od }
