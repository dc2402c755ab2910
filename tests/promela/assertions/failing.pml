// quotient: --raw --all --safety => violated assertion, states 13, transitions 18
// quotient: --all --safety => violated assertion, at most 13 states
/* An assertion that fails on some interleavings. */
byte x;
active [2] proctype P() { x++; assert(x == 1) }
