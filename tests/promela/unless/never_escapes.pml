// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* Without an executable escape the main sequence runs through. */
bit stop; byte x;
active proctype P() { { x = 1; x = 2 } unless { stop -> x = 9 }; assert(x == 2) }
