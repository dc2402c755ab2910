// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* eval of a compound expression. */
chan c = [1] of { byte };
byte base = 4;
active proctype S() { c!9 }
active proctype R() { c?eval(base * 2 + 1) }
