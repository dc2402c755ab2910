// quotient: --raw --all --safety => violated deadlock, states 2, transitions 1
// quotient: --all --safety => violated deadlock, at most 2 states
/* A send on a full channel waits; here forever. */
chan c = [1] of { byte };
active proctype S() { c!1; c!2 }
