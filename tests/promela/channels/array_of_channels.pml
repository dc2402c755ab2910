// quotient: --raw --all --safety => holds, states 16, transitions 22
// quotient: --all --safety => holds, at most 16 states
/* An array of channels, each with its own buffer. */
chan c[2] = [1] of { byte };
active [2] proctype P() { byte x; c[_pid]!_pid + 5; c[1 - _pid]?x; assert(x == 6 - _pid) }
