// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* ?? with only variables is like ?. */
chan c = [2] of { byte };
active proctype P() { byte x; c!4; c!5; c??x; assert(x == 4) }
