// quotient: --raw --all --safety => holds, states 19, transitions 28
// quotient: --all --safety => holds, at most 19 states
/* Instances started at run time and active ones of the same proctype. */
byte n;
active proctype P() { byte own = _pid; n++; assert(own == _pid) }
init { run P() }
