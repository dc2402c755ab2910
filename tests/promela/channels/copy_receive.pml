// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* ?<> copies the head and leaves it. */
chan c = [1] of { byte };
active proctype P() { byte x; c!6; c?<x>; assert(x == 6 && len(c) == 1); c?<6>; c?x; assert(empty(c)) }
