// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* A channel and a constant as arguments. */
chan c = [2] of { byte };
inline send(q, v) { q!v }
inline get(q, v) { q?v }
active proctype P() { byte x; send(c, 4); send(c, 5); get(c, x); assert(x == 4) }
