// expect: states=2 transitions=1 errors=deadlock
// spin-default: states=2
/* eval of a different value blocks. */
chan c = [1] of { byte };
byte want = 3;
active proctype S() { c!2 }
active proctype R() { c?eval(want) }
