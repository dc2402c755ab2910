// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* Sender and receiver of an unbuffered channel meet in one step. */
chan c = [0] of { byte };
byte got;
active proctype S() { c!5; c!6 }
active proctype R() { c?got; assert(got == 5); c?got; assert(got == 6) }
