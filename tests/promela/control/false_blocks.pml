// quotient: --raw --all --safety => violated deadlock, states 2, transitions 1
// quotient: --all --safety => violated deadlock, at most 2 states
/* false is never executable. */
active proctype P() { skip; false; assert(false) }
