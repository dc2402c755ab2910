// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* A declaration in the middle of a body. */
byte g;
active proctype P() { g = 2; byte l = 7; g = g + l; assert(g == 9) }
