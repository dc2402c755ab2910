// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* _ receives and forgets. */
chan c = [2] of { byte, byte };
active proctype P() { byte x; c!1,2; c!3,4; c?_,x; assert(x == 2); c?x,_; assert(x == 3) }
