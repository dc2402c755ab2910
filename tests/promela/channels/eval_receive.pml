// quotient: --raw --all --safety => holds, states 10, transitions 10
// quotient: --all --safety => holds, at most 10 states
/* eval(v) compares with the current value of v. */
chan c = [1] of { byte };
byte want = 1, got;
active proctype S() { c!1; c!2 }
active proctype R() { c?eval(want); want++; c?eval(want); got = 1 }
