// quotient: --raw --all --safety => holds, states 11, transitions 11
// quotient: --all --safety => holds, at most 11 states
/* Two processes with timeouts: either may go. */
byte n;
active [2] proctype P() { timeout -> n++ }
