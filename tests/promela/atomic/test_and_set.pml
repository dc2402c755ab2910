// quotient: --raw --all --safety => holds, states 27, transitions 32
// quotient: --all --safety => holds, at most 27 states
/* An atomic test and set gives mutual exclusion. */
bit lock; byte n;
active [2] proctype P() { atomic { !lock -> lock = 1 }; n++; assert(n == 1); n--; lock = 0 }
