// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* ?<> copies the head and leaves it. */
chan c = [1] of { byte };
active proctype P() { byte x; c!6; c?<x>; assert(x == 6 && len(c) == 1); c?<6>; c?x; assert(empty(c)) }
