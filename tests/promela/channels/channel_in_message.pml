// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* A channel sent through a channel. */
chan ask = [1] of { chan };
active proctype Server() { chan reply; ask?reply; reply!42 }
active proctype Client() { chan mine = [1] of { byte }; byte x; ask!mine; mine?x; assert(x == 42) }
