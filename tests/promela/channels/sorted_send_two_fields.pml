// quotient: --raw --all --safety => holds, states 11, transitions 10
// quotient: --all --safety => holds, at most 11 states
/* !! orders by the first field, then the next. */
chan c = [3] of { byte, byte };
active proctype P() { byte x, y; c!!2,1; c!!1,9; c!!1,3; c?x,y; assert(x == 1 && y == 3); c?x,y; assert(x == 1 && y == 9); c?x,y; assert(x == 2) }
