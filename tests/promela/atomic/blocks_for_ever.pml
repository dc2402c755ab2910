// quotient: --raw --all --safety => violated deadlock, states 2, transitions 1
// quotient: --all --safety => violated deadlock, at most 2 states
/* Blocking inside an atomic sequence for good is a deadlock. */
byte x;
active proctype P() { atomic { x = 1; (x == 2); x = 3 } }
