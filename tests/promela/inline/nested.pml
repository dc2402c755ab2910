// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* An inline that uses another. */
byte x;
inline one(v) { v = v + 1 }
inline two(v) { one(v); one(v) }
active proctype P() { two(x); one(x); assert(x == 3) }
