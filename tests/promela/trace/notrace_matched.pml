// expect: states=7 transitions=6 errors=trace
// spin-default: states=7
/* A notrace that a run matches completely. */
chan c = [1] of { byte };
notrace { c!1; c!2 }
active proctype S() { c!1; c!2 }
active proctype R() { c?1; c?2 }
