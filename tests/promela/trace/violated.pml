// quotient: --raw --all --safety => violated trace, states 4, transitions 3
// quotient: --all --safety => violated trace, at most 4 states
/* The second message is not the one that the trace allows. */
mtype = { a, b };
chan c = [2] of { mtype };
trace { c!a; c!a }
active proctype S() { c!a; c!b }
