// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* A notrace that no run can match. */
chan c = [1] of { byte };
notrace { c!2; c!1 }
active proctype S() { c!1; c!2 }
active proctype R() { c?1; c?2 }
