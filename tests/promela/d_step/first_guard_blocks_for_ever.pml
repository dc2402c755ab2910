// quotient: --raw --all --safety => violated deadlock, states 1, transitions 0
// quotient: --all --safety => violated deadlock, at most 1 states
/* A guard that never holds. */
byte x;
active proctype P() { d_step { (x == 1); x = 2 } }
