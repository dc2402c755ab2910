// quotient: --raw --all --safety => holds, states 3, transitions 2
// quotient: --all --safety => holds, at most 3 states
/* A condition that is never true marks where it would lead, if it is not written as a constant: the process may wait there. */
byte x;
active proctype P() { do :: end_0: (255 <= 1) od }
active proctype Q() { x = 1 }
