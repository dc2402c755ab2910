// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* _ receives and forgets. */
chan c = [2] of { byte, byte };
active proctype P() { byte x; c!1,2; c!3,4; c?_,x; assert(x == 2); c?x,_; assert(x == 3) }
