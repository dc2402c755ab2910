// expect: states=6 transitions=5 errors=channel
// spin-default: states=6
/* A receive with fewer fields than the message. */
chan c = [1] of { byte, byte };
byte x;
active proctype S() { c!1,2 }
active proctype R() { c?x; assert(x == 1) }
