// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* true and false are 1 and 0; a bool holds one bit. */
bool p, q = true;
active proctype P() { p = true; q = false; assert(p == 1 && q == 0); p = p + 1; assert(!p) }
