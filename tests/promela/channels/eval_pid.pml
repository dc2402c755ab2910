// quotient: --raw --all --safety => holds, states 22, transitions 35
// quotient: --all --safety => holds, at most 22 states
/* A message addressed to one process. */
chan c = [2] of { byte };
byte seen[2];
active [2] proctype R() { c?eval(_pid); seen[_pid] = 1 }
active proctype S() { c!1; c!0 }
