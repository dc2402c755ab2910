// quotient: --raw --all --safety => holds, states 17, transitions 21
// quotient: --all --safety => holds, at most 17 states
/* A buffered channel keeps the order of messages. */
chan c = [2] of { byte };
active proctype S() { c!1; c!2; c!3 }
active proctype R() { byte x; c?x; assert(x == 1); c?x; assert(x == 2); c?x; assert(x == 3) }
