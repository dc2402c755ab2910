// quotient: --raw --all --safety => holds, states 10, transitions 9
// quotient: --all --safety => holds, at most 10 states
/* Sorted sends, a random receive and polls in one process. */
chan c = [3] of { byte };
active proctype P() { byte x; c!!9; c!!4; c!!6; c??6; assert(c?[4] && c??[9]); c?x; c?x; assert(x == 9) }
