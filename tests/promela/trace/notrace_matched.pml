// quotient: --raw --all --safety => violated trace, states 7, transitions 6
// quotient: --all --safety => violated trace, at most 7 states
/* A notrace that a run matches completely. */
chan c = [1] of { byte };
notrace { c!1; c!2 }
active proctype S() { c!1; c!2 }
active proctype R() { c?1; c?2 }
