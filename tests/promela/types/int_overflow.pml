// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* An int wraps around in 32-bit two's complement. */
int i = 2147483647;
active proctype P() { i++; assert(i < 0); i--; assert(i > 0); i = i * 2; assert(i == -2) }
