// quotient: --raw --all --safety => holds, states 14, transitions 14
// quotient: --all --safety => holds, at most 14 states
/* One receiver chooses between two senders. */
chan c = [0] of { byte };
byte sum;
active [2] proctype S() { c!_pid + 1 }
active proctype R() { byte x; c?x; sum = x; c?x; sum = sum + x; assert(sum == 3) }
