// quotient: --raw --all --safety => holds, states 2, transitions 2
// quotient: --all --safety => holds, at most 2 states
/* An accept label has no influence on safety. */
bit b;
active proctype P() { do :: accept_x: b = 1; b = 0 od }
