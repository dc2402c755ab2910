// quotient: --raw --all --safety => holds, states 33, transitions 51
// quotient: --all --safety => holds, at most 33 states
/* P[e]:x with an expression as index. */
byte r;
active [2] proctype P() { byte v; v = _pid + 5; (r != 0) }
active proctype Q() { byte k = 1; (P[k]:v == 6); r = P[k - 1]:v + 1 }
