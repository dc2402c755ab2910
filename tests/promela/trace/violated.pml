// expect: states=4 transitions=3 errors=trace
// spin-default: states=4
/* The second message is not the one that the trace allows. */
mtype = { a, b };
chan c = [2] of { mtype };
trace { c!a; c!a }
active proctype S() { c!a; c!b }
