// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* A notrace that no run can match. */
chan c = [1] of { byte };
notrace { c!2; c!1 }
active proctype S() { c!1; c!2 }
active proctype R() { c?1; c?2 }
