// quotient: --raw --all --safety => holds, states 13, transitions 18
// quotient: --all --safety => holds, at most 13 states
/* An assertion that always holds. */
byte x;
active [2] proctype P() { x++; assert(x >= 1 && x <= 2) }
