// expect: states=14 transitions=15 errors=none
// spin-default: states=14
/* A rendezvous send at the start of an atomic sequence. */
chan c = [0] of { byte };
byte x, y;
active proctype S() { atomic { c!1; x = 1; x = 2 } }
active proctype R() { byte v; c?v; y = x; assert(y == 0 || y == 1 || y == 2) }
