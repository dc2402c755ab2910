// expect: states=2 transitions=1 errors=none
// spin-default: states=2
/* A receive with too few fields that is never executed is not an error. */
chan c = [1] of { byte, byte };
byte x;
active proctype S() { x = 1 }
active proctype R() { end: c?x; x = 5 }
