// expect: states=5 transitions=4 errors=channel
// spin-default: states=5
/* The same by rendezvous. */
chan c = [0] of { byte, byte };
byte x;
active proctype S() { c!1,2 }
active proctype R() { c?x; assert(x == 1) }
