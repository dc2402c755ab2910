// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* A receive as the first statement. */
chan c = [1] of { byte };
byte x, y;
active proctype S() { c!3; c!4 }
active proctype R() { d_step { c?x; y = y + x }; d_step { c?x; y = y + x }; assert(y == 7) }
