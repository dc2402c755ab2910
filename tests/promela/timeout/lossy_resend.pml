// expect: states=14 transitions=13 errors=none
// spin-default: states=14
/* A sender repeats after a loss. */
chan c = [1] of { bit };
byte tries;
active proctype S() { do :: tries < 2 -> tries++; c!1; timeout -> skip :: tries == 2 -> break od }
active proctype R() { end: do :: c?1 od }
