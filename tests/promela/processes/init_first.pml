// quotient: --raw --all --safety => holds, states 22, transitions 39
// quotient: --all --safety => holds, at most 22 states
/* init declared before the active processes: it has pid 0. */
byte a, b;
init { b = _pid; assert(b == 0) }
active [2] proctype P() { a = a + _pid + 1 }
