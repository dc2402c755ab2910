// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* A variable declared inside an inline, used twice. */
byte out;
inline add(n) { byte t = n; out = out + t }
active proctype P() { add(3); add(4); assert(out == 7) }
