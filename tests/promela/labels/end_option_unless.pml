// quotient: --raw --all --safety => holds, states 5, transitions 5
// quotient: --all --safety => holds, at most 5 states
/* The same inside an unless. */
byte y;
active proctype P() { { do :: end: y == 1 -> y == 9 od } unless { y == 5 } }
active proctype Q() { y = 1 }
