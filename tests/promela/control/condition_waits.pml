// quotient: --raw --all --safety => holds, states 9, transitions 8
// quotient: --all --safety => holds, at most 9 states
/* A condition is a statement that waits. */
byte x;
active proctype P() { (x == 2); x = 3 }
active proctype Q() { x = 1; x = 2; (x == 3); x = 0 }
