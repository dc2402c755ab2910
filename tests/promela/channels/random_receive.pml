// quotient: --raw --all --safety => holds, states 11, transitions 10
// quotient: --all --safety => holds, at most 11 states
/* ?? takes the first message that matches, wherever it is. */
chan c = [3] of { byte, byte };
active proctype P() { byte v; c!1,10; c!2,20; c!2,30; c??2,v; assert(v == 20); c?1,v; assert(v == 10); c??2,v; assert(v == 30 && empty(c)) }
