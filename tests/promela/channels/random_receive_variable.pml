// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* ?? with only variables is like ?. */
chan c = [2] of { byte };
active proctype P() { byte x; c!4; c!5; c??x; assert(x == 4) }
