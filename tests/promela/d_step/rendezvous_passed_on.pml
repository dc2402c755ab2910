// quotient: --raw --all --safety => violated assertion, states 10, transitions 13
// quotient: --all --safety => violated assertion, at most 10 states
/* The condition before the receive is the one that holds: the message is left to the next process. */
chan c = [0] of { byte };
byte x, y = 1;
active proctype S() { c!3 }
active proctype R() { d_step { if :: y == 1 -> y = 2 :: c?x -> y = 3 fi } }
active proctype T() { end: c?x; assert(y == 2) }
