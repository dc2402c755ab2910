// quotient: --raw --all --safety => violated assertion, states 3, transitions 2
// quotient: --all --safety => violated assertion, at most 3 states
/* An assertion that fails inside. */
byte x;
active proctype P() { d_step { x = 1; assert(x == 2); x = 3 } }
