// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* An inline without parameters. */
byte x;
inline bump() { x++; x++ }
active proctype P() { bump(); bump(); assert(x == 4) }
