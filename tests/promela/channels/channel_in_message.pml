// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* A channel sent through a channel. */
chan ask = [1] of { chan };
active proctype Server() { chan reply; ask?reply; reply!42 }
active proctype Client() { chan mine = [1] of { byte }; byte x; ask!mine; mine?x; assert(x == 42) }
