// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* Cells of a narrow unsigned type wrap one by one. */
unsigned u : 2;
byte a[2] = 3;
active proctype P() { u = a[0] + 2; a[1] = u; assert(a[1] == 1) }
