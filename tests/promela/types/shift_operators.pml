// quotient: --raw --all --safety => holds, states 11, transitions 10
// quotient: --all --safety => holds, at most 11 states
/* Shifts on an int, stored into a byte. */
int i = 1; byte b;
active proctype P() { i = i << 8; b = i; assert(b == 0); i = i >> 3; b = i; assert(b == 32); i = -8; i = i >> 1; assert(i == -4) }
