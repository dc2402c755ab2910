// quotient: --raw --all --safety => holds, states 127, transitions 384
// quotient: --all --safety => holds, at most 127 states
/* Six processes of one step each. */
byte n;
active [6] proctype P() { n++ }
