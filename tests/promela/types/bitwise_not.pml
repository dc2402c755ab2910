// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* Complement of an int and of a byte value. */
int i; byte b = 5;
active proctype P() { i = ~0; assert(i == -1); i = ~b; assert(i == -6); b = ~b; assert(b == 250) }
