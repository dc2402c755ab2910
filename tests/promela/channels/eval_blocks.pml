// quotient: --raw --all --safety => violated deadlock, states 2, transitions 1
// quotient: --all --safety => violated deadlock, at most 2 states
/* eval of a different value blocks. */
chan c = [1] of { byte };
byte want = 3;
active proctype S() { c!2 }
active proctype R() { c?eval(want) }
