// quotient: --raw --all --safety => holds, states 14, transitions 13
// quotient: --all --safety => holds, at most 14 states
/* !! inserts before the first larger message. */
chan c = [4] of { byte };
active proctype P() { byte x; c!!3; c!!1; c!!2; c!!1; c?x; assert(x == 1); c?x; assert(x == 1); c?x; assert(x == 2); c?x; assert(x == 3) }
