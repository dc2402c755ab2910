// expect: states=21 transitions=32 errors=none
// spin-default: states=21
/* A channel local to a process, used by it alone. */
active [2] proctype P() { chan q = [1] of { byte }; byte x; q!_pid; q?x; assert(x == _pid) }
