// quotient: --raw --all --safety => holds, states 54, transitions 82
// quotient: --all --safety => holds, at most 54 states
/* Two writers race on a byte; every interleaving is explored. */
byte x;
active [2] proctype P() { byte t; t = x; t++; x = t; assert(x <= 2) }
