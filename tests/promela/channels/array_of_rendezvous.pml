// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* An array of unbuffered channels. */
chan c[2] = [0] of { byte };
active proctype S() { c[1]!4; c[0]!3 }
active proctype R() { byte x; if :: c[0]?x -> assert(false) :: c[1]?x -> c[0]?x fi; assert(x == 3) }
