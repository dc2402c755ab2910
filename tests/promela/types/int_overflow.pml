// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* An int wraps around in 32-bit two's complement. */
int i = 2147483647;
active proctype P() { i++; assert(i < 0); i--; assert(i > 0); i = i * 2; assert(i == -2) }
