// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* No timeout while another process can move. */
byte x;
active proctype P() { timeout -> assert(x == 3) }
active proctype Q() { x++; x++; x++ }
