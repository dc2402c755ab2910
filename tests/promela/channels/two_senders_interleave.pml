// quotient: --raw --all --safety => holds, states 35, transitions 38
// quotient: --all --safety => holds, at most 35 states
/* Messages of two senders arrive in every order. */
chan c = [4] of { byte };
active [2] proctype S() { c!_pid; c!_pid + 2 }
