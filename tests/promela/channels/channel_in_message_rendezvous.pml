// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* The reply channel is an unbuffered one. */
chan ask = [0] of { byte, chan };
active proctype Server() { chan reply; byte n; ask?n,reply; reply!n + 1 }
active proctype Client() { chan mine = [0] of { byte }; byte x; ask!8,mine; mine?x; assert(x == 9) }
