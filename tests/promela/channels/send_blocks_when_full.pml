// expect: states=2 transitions=1 errors=deadlock
// spin-default: states=2
/* A send on a full channel waits; here forever. */
chan c = [1] of { byte };
active proctype S() { c!1; c!2 }
