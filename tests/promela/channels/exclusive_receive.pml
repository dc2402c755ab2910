// expect: states=8 transitions=8 errors=none
// spin-default: states=8
/* xr declares the only receiver. */
chan c = [1] of { byte };
active proctype R() { byte x; xr c; c?x; c?x }
active proctype S() { xs c; c!1; c!2 }
