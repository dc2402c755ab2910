// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* A receive as the first statement. */
chan c = [1] of { byte };
byte x, y;
active proctype S() { c!3; c!4 }
active proctype R() { d_step { c?x; y = y + x }; d_step { c?x; y = y + x }; assert(y == 7) }
