// quotient: --raw --all --safety => holds, states 7, transitions 8
// quotient: --all --safety => holds, at most 7 states
/* Nobody runs inside an atomic sequence. */
byte x;
active [2] proctype P() { atomic { x++; x--; assert(x == 0) } }
