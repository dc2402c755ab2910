// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* eval of a compound expression. */
chan c = [1] of { byte };
byte base = 4;
active proctype S() { c!9 }
active proctype R() { c?eval(base * 2 + 1) }
