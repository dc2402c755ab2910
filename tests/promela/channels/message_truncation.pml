// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* A message field cuts values to its type. */
chan c = [1] of { byte };
active proctype P() { int x; c!260; c?x; assert(x == 4) }
