// quotient: --raw --all --safety => holds, states 13, transitions 18
// quotient: --all --safety => holds, at most 13 states
/* An inline as the body of an atomic sequence. */
byte x;
inline work(d) { x = x + d; x = x - d }
active [2] proctype P() { atomic { work(3) }; assert(x == 0) }
