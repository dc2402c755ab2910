// quotient: --raw --all --safety => violated assertion, states 6, transitions 5
// quotient: --all --safety => violated assertion, at most 6 states
/* An assertion that always fails; the search goes on after it. */
byte x;
active proctype P() { assert(false); x = 1; assert(x == 2); x = 3 }
