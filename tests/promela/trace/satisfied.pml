// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* A trace assertion that all sends and receives respect. */
mtype = { a, b };
chan c = [1] of { mtype };
trace { do :: c!a; c?a; c!b; c?b od }
active proctype S() { c!a; c!b }
active proctype R() { c?a; c?b }
