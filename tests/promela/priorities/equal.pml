// quotient: --raw --all --safety => holds, states 13, transitions 18
// quotient: --all --safety => holds, at most 13 states
/* Equal priorities interleave as usual. */
byte x;
active [2] proctype P() priority 3 { x++; x++ }
