// quotient: --raw --all --safety => violated deadlock, states 1, transitions 0
// quotient: --all --safety => violated deadlock, at most 1 states
/* One process at an end label, the other not. */
byte x;
active proctype P() { end: (x == 1) }
active proctype Q() { (x == 2) }
