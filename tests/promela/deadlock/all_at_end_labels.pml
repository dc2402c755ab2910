// quotient: --raw --all --safety => holds, states 4, transitions 4
// quotient: --all --safety => holds, at most 4 states
/* Every process at an end label. */
byte x;
active [2] proctype P() { x++; end: (x == 9) }
