// quotient: --raw --all --safety => holds, states 13, transitions 15
// quotient: --all --safety => holds, at most 13 states
/* A sequence that blocks inside loses atomicity and may regain it. */
byte x;
active proctype P() { atomic { x = 1; (x == 2); x = 3; assert(x == 3) } }
active proctype Q() { (x == 1); x = 2; if :: x == 3 -> skip :: x == 2 -> skip fi }
