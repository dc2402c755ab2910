// quotient: --raw --all --safety => holds, states 19, transitions 18
// quotient: --all --safety => holds, at most 19 states
/* for over the messages of a channel, which stay in it. */
typedef msg { byte v };
chan c = [3] of { msg };
byte s;
active proctype P() { msg m; m.v = 1; c!m; m.v = 2; c!m; for (m in c) { s = s + m.v }; assert(s == 3 && len(c) == 2) }
