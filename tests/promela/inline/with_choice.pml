// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* Control flow inside an inline. */
byte m;
inline max(p, q) { if :: p >= q -> m = p :: else -> m = q fi }
active proctype P() { max(3, 5); assert(m == 5); max(m, 2); assert(m == 5) }
