// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* A pid variable wraps like a byte. */
pid p;
active proctype P() { p = 255; p++; assert(p == 0); p = _pid; assert(p == 0) }
