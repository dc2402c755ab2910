// quotient: --raw --all --safety => holds, states 6, transitions 6
// quotient: --all --safety => holds, at most 6 states
/* The first statement may wait. */
byte x;
active proctype P() { d_step { (x == 1); x = 2; x = 3 } }
active proctype Q() { x = 1 }
