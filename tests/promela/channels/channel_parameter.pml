// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* A channel passed to a process. */
chan c = [1] of { byte };
proctype R(chan q) { byte x; q?x; assert(x == 2) }
init { run R(c); c!2 }
