// quotient: --raw --all --safety => holds, states 9, transitions 8
// quotient: --all --safety => holds, at most 9 states
/* A channel variable refers to the channel assigned to it. */
chan a = [1] of { byte };
chan b = [1] of { byte };
active proctype P() { chan v; v = a; v!1; v = b; v!2; assert(len(a) == 1 && len(b) == 1); a?1; b?2 }
