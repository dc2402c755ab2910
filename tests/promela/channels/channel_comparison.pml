// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* Two names of one channel are equal. */
chan a = [1] of { byte };
chan b = [1] of { byte };
active proctype P() { chan v; v = a; assert(v == a && v != b) }
