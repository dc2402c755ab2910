// quotient: --raw --all --safety => holds, states 21, transitions 32
// quotient: --all --safety => holds, at most 21 states
/* A channel local to a process, used by it alone. */
active [2] proctype P() { chan q = [1] of { byte }; byte x; q!_pid; q?x; assert(x == _pid) }
