// expect: states=35 transitions=38 errors=none
// spin-default: states=35
/* Messages of two senders arrive in every order. */
chan c = [4] of { byte };
active [2] proctype S() { c!_pid; c!_pid + 2 }
