// quotient: --raw --all --safety => holds, states 8, transitions 8
// quotient: --all --safety => holds, at most 8 states
/* A trace about sends says nothing about receives. */
chan c = [2] of { byte };
trace { do :: c!1; c!2 od }
active proctype S() { c!1; c!2 }
active proctype R() { byte x; c?x; c?x }
