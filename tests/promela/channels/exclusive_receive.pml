// quotient: --raw --all --safety => holds, states 8, transitions 8
// quotient: --all --safety => holds, at most 8 states
/* xr declares the only receiver. */
chan c = [1] of { byte };
active proctype R() { byte x; xr c; c?x; c?x }
active proctype S() { xs c; c!1; c!2 }
