// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* Sender and receiver of an unbuffered channel meet in one step. */
chan c = [0] of { byte };
byte got;
active proctype S() { c!5; c!6 }
active proctype R() { c?got; assert(got == 5); c?got; assert(got == 6) }
