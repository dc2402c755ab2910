// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* A channel passed to a process. */
chan c = [1] of { byte };
proctype R(chan q) { byte x; q?x; assert(x == 2) }
init { run R(c); c!2 }
