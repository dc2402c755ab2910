// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* An array of one cell is indexed as usual. */
byte a[1];
active proctype P() { a[0] = 3; a[0]++; assert(a[0] == 4) }
