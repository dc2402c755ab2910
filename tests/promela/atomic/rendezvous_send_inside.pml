// expect: states=11 transitions=11 errors=none
// spin-default: states=8
/* A rendezvous send inside hands control to the receiver. */
chan c = [0] of { byte };
byte x, y;
active proctype S() { atomic { x = 1; c!1; x = 2 } }
active proctype R() { byte v; c?v; y = x }
