// quotient: --raw --all --safety => holds, states 7, transitions 8
// quotient: --all --safety => holds, at most 7 states
/* Jumping into the middle of an atomic sequence. */
byte x;
active proctype P() { goto in; atomic { x = 1; in: x = 2; x = 3 } }
active proctype Q() { assert(x != 1) }
