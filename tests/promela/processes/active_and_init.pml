// quotient: --raw --all --safety => holds, states 19, transitions 32
// quotient: --all --safety => holds, at most 19 states
/* init declared after two active processes: it has pid 2. */
byte a, b;
active [2] proctype P() { a = a + _pid + 1 }
init { b = _pid; assert(b == 2) }
