// quotient: --raw --all --safety => violated assertion, violated deadlock, states 3, transitions 2
// quotient: --all --safety => violated assertion, violated deadlock, at most 3 states
/* An assertion violation and an invalid end state in one model. */
byte x;
active proctype P() { x = 1; assert(x == 0); (x == 2) }
