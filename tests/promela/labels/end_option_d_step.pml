// quotient: --raw --all --safety => holds, states 5, transitions 5
// quotient: --all --safety => holds, at most 5 states
/* On a d_step it marks where the d_step leads. */
byte y;
active proctype P() { byte x; do :: end: d_step { y == 1 -> x = 2 }; y == 9 od }
active proctype Q() { y = 1 }
