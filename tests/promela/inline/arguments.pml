// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* Parameters are replaced by the text of the arguments. */
byte a = 1, b = 2;
inline swap(p, q) { t = p; p = q; q = t }
active proctype P() { byte t; swap(a, b); assert(a == 2 && b == 1) }
