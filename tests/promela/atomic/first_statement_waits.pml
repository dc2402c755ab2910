// quotient: --raw --all --safety => holds, states 8, transitions 9
// quotient: --all --safety => holds, at most 8 states
/* The first statement decides when the sequence may start. */
byte x;
active proctype P() { atomic { (x == 1); x = 2; x = 3 } }
active proctype Q() { x = 1; assert(x == 1 || x == 3) }
